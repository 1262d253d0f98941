"""Outcomes of single intervals, and of those that must reach an effect, against simulated studies."""

import numpy as np
import pytest

from memaudit.claims.interval_outcomes import Value, placed

ABOVE, REACH = (0.0, np.inf), (0.04, np.inf)


def outcome(estimate, half, region=ABOVE, reach=REACH, **options):
    found = Value(estimate, estimate - half, estimate + half)
    return placed("s", "n", found, region, reach, strict=True, **options)


@pytest.mark.parametrize(
    ("estimate", "half", "expected", "reaches"),
    [
        (0.05, 0.02, "holds", True),
        (0.02, 0.01, "holds", False),
        (0.01, 0.02, "opposite", True),
        (0.02, 0.03, "inconclusive", True),
        (-0.05, 0.02, "opposite", True),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_holds_beyond_the_bound_and_is_opposite_without_the_effect(sign, estimate, half, expected, reaches):
    region, reach = (tuple(sorted(sign * end for end in ends)) for ends in (ABOVE, REACH))
    found = outcome(sign * estimate, half, region, reach)
    assert (found.outcome, found.reaches) == (expected, reaches)


@pytest.mark.parametrize(
    ("estimate", "half"), [(0.0099, 0.01), (0.0101, 0.01), (0.03, 0.02), (0.0, 0.03), (0.05, 0.03)]
)
def test_the_probabilities_of_another_run_are_those_of_simulated_runs(estimate, half):
    error = np.sqrt(2) * half / 1.96
    runs = np.random.default_rng(0).normal(estimate, error, 20000)
    holds = runs - half > 0
    opposite = (runs + half < 0.04) & ~holds
    again = outcome(estimate, half).again
    assert again == pytest.approx((holds.mean(), opposite.mean()), abs=0.01)
    assert sum(again) <= 1 + 1e-9


def test_an_interval_without_width_on_the_bound_decides_nothing():
    found = outcome(0.0, 0.0, reach=ABOVE)
    assert (found.outcome, found.again) == ("inconclusive", (0.0, 0.0))


@pytest.mark.parametrize("estimate", [0.005, 0.015, 0.03, 0.05])
def test_the_size_that_decides_is_the_smallest_that_does(estimate):
    """An estimate between the bound and the effect is decided by whichever it is farther from."""
    half = 0.06
    found = outcome(estimate, half)
    assert found.outcome == "inconclusive"
    before, after = (outcome(estimate, half / np.sqrt(found.factor * more)) for more in (0.98, 1.02))
    assert before.outcome == "inconclusive"
    assert after.outcome == ("holds" if found.supports else "opposite")
