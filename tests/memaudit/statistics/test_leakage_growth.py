"""The AUC by number of contexts, and its limit."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks.registry import on_confidence
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import leakage_growth
from memaudit.statistics.strongest_score import Panel


def panel(contexts, effect, records=60, seed=0):
    rng = np.random.default_rng(seed)
    member = membership_matrices.balanced(contexts, records, rng, block=8)
    signals = rng.normal(size=records) + rng.normal(size=member.shape) + effect * member
    attacks = on_confidence(
        {"lira": "lira"}, signals, rng.normal(size=(contexts, 20)), {"gamma": 1.0, "offline_a": 0.3}
    )
    return Panel.of_records(attacks, member, np.arange(records), Scheme("columns", 8))


def test_sizes_are_doubled_up_to_all_contexts():
    assert leakage_growth.sizes_of(32) == [8, 16, 32]
    assert leakage_growth.sizes_of(48) == [8, 16, 32, 48]
    assert leakage_growth.sizes_of(8) == [8]


def test_the_limit_of_a_curve_is_found():
    sizes = [16, 32, 64]
    aucs = norm.cdf(0.7 / np.sqrt(1 + 20 / np.array(sizes)))
    (limit,), (curvature,) = leakage_growth.limit_of(sizes, aucs)
    assert limit == pytest.approx(norm.cdf(0.7), abs=0.003)
    assert curvature == pytest.approx(20, rel=0.1)
    (flat,), (none,) = leakage_growth.limit_of(sizes, np.full(3, 0.6))
    assert (flat, none) == (pytest.approx(0.6), 0.0)


def test_more_contexts_find_more_and_the_limit_lies_above():
    found = leakage_growth.growth(panel(64, 1.5), "lira", np.random.default_rng(1), 40, detected=True)
    aucs = [one.estimate for one in found.at]
    assert list(found.sizes) == [8, 16, 32, 64]
    assert aucs == sorted(aucs)
    assert found.limit.estimate > aucs[-1]
    assert found.limit.low < norm.cdf(1.5 / np.sqrt(2)) < found.limit.high


@pytest.mark.parametrize(
    ("contexts", "detected", "reason"),
    [(64, False, "no leak is detected"), (32, True, "32 contexts are too few to extrapolate from")],
)
def test_it_says_why_there_is_no_limit(contexts, detected, reason):
    found = leakage_growth.growth(panel(contexts, 1.5), "lira", np.random.default_rng(1), 40, detected)
    assert found.limit is None
    assert reason in found.reason


def test_an_unbounded_curve_has_no_limit():
    steep = norm.cdf(0.02 * np.sqrt([16, 32, 64]))
    assert leakage_growth.limit_of([16, 32, 64], steep)[1] == leakage_growth.CURVATURES[-1]
