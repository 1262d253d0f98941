"""Tidy rows of strategies: keys, nulls and paired differences."""

import numpy as np
import pytest

from memaudit.common import tidy
from memaudit.studies.lira.aggregation_strategies import evaluate
from memaudit.studies.lira.strategy_rows import PAIRS, StrategyRows, key_of, without_leak
from memaudit.studies.lira.strategy_thresholds import STRATEGIES


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    membership = rng.random((64, 40)).argsort(0) < 32
    signals = rng.normal(size=membership.shape) + membership
    outcomes = evaluate(signals, membership, [64], fprs=(0.1,), replicates=20, rng=rng)
    nulls = without_leak(evaluate(signals, rng.permuted(membership, axis=0), [64], fprs=(0.1,)) for _ in range(3))
    return StrategyRows({"dataset": "wine"}, 20, nulls), outcomes


def table(made):
    return tidy.expand(tidy.frame(list(made)))


def test_nulls_are_collected_by_outcome(rows):
    made, outcomes = rows
    assert set(made.nulls) == {key_of(outcome) for outcome in outcomes}
    assert all(len(redraws) == 3 for redraws in made.nulls.values())


def test_a_tpr_has_the_mean_of_its_redraws_as_null_and_they_have_the_fpr(rows):
    made, outcomes = rows
    tpr, null = made.tpr(outcomes[0])
    assert (
        tpr["null"] == null["estimate"] == pytest.approx(np.mean([one.tpr for one in made.nulls[key_of(outcomes[0])]]))
    )
    assert null["null"] == 0.1
    assert tpr["low"] <= tpr["estimate"] <= tpr["high"]


def test_every_pair_has_a_difference_whose_reverse_is_its_negative(rows):
    made, outcomes = rows
    assert {name for pair in PAIRS for name in pair} <= set(STRATEGIES)
    found = table(made.differences(outcomes)).set_index("strategy")
    assert set(found.index) == {f"{one}-{two}" for one, two in PAIRS}
    one, two = found.loc["pp-per_sample_crossfit"], found.loc["per_sample_crossfit-pp"]
    assert one.estimate == pytest.approx(-two.estimate)
    assert one.low == pytest.approx(-two.high)


def test_calibration_has_three_metrics_of_each_outcome(rows):
    made, outcomes = rows
    found = table(row for outcome in outcomes for row in made.calibration(outcome))
    assert (found.groupby("strategy").size() == 3).all()
