"""Two defences ranked under each strategy, on the same models and records."""

import numpy as np
import pytest
from scipy.special import expit

from memaudit.common import tidy
from memaudit.studies.lira.defence_ranking import CAPPED, ROUNDED, defended, ranking_rows, reversal


def test_defences_change_only_what_is_published():
    signals = np.array([[-3.0, 0.0, 1.0, 5.0]])
    of = defended(signals)
    np.testing.assert_allclose(expit(of[CAPPED][0]), np.minimum(expit(signals), 0.9))
    assert of[ROUNDED][0].tolist() == [[0, 5, 7, 10]]
    assert of[ROUNDED][1] == pytest.approx(12**-0.5)


@pytest.mark.parametrize(
    ("one", "other", "reversed_order"), [(0.1, -0.1, True), (0.1, 0.1, False), (0.1, 0.0, False), (0.0, -0.1, False)]
)
def test_an_order_is_reversed_only_where_both_differences_lie_clearly_on_opposite_sides(one, other, reversed_order):
    rng = np.random.default_rng(0)
    samples = reversal(one + 0.01 * rng.normal(size=500), other + 0.01 * rng.normal(size=500))
    assert (np.quantile(samples, 0.025) > 0) == reversed_order


def test_the_reversal_of_equal_defences_rarely_lies_above_zero():
    """Neither strategy sees a difference: at most one interval in twenty may say that they rank otherwise."""
    rng, false = np.random.default_rng(1), 0
    for _ in range(400):
        observed = 0.01 * rng.normal(size=2)
        replicates = observed + 0.01 * rng.normal(size=(200, 2))
        samples = reversal(*np.vstack([observed, replicates]).T)
        false += np.quantile(samples[1:], 0.025) > 0
    assert false <= 20


def test_rows_pair_both_defences_and_every_strategy_has_its_difference():
    rng = np.random.default_rng(2)
    membership = rng.random((64, 40)).argsort(0).argsort(0) < 32
    signals = rng.normal(size=membership.shape) + membership + np.linspace(-2, 4, 40)
    rows = ranking_rows(
        signals,
        membership,
        [0.1],
        lambda: np.random.default_rng(3),
        replicates=60,
        groups=None,
        keys={"dataset": "wine"},
    )
    table = tidy.expand(tidy.frame(list(rows)))
    tprs = table[table["metric"] == "defended tpr"].set_index(["strategy", "defence"])
    gaps = table[table["metric"] == "defence difference"].set_index("strategy")
    for strategy in ("naive", "pp", "per_sample"):
        capped, rounded = tprs.loc[(strategy, CAPPED)], tprs.loc[(strategy, ROUNDED)]
        assert gaps.loc[strategy, "estimate"] == pytest.approx(capped["estimate"] - rounded["estimate"])
        widths = [one["high"] - one["low"] for one in (capped, rounded, gaps.loc[strategy])]
        assert widths[2] < widths[0] + widths[1]
    (order,) = table[table["metric"] == "order reversal"].to_dict("records")
    assert order["strategy"] == "naive and pp"
    naive, pp = (np.array([gaps.loc[name, "estimate"]]) for name in ("naive", "pp"))
    assert order["estimate"] == pytest.approx(reversal(naive, pp)[0])
    assert order["null"] == 0
