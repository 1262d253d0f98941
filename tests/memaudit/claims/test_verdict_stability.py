"""The limit of the probability that another run gives another verdict holds in simulated runs of known truth."""

import numpy as np
import pytest

from memaudit.claims.claim_comparisons import Comparison
from memaudit.claims.claim_predicates import Claim
from memaudit.claims.verdict_stability import at_least_limit, limits, outcome_chances, stability_text
from memaudit.claims.verdicts import Tally, change_limit, verdicts
from memaudit.common import tidy

CLAIM = {"id": "x", "paper": "p", "place": "Table 2", "text": "t", "relation": "greater", "right": {"value": 0.5}}
Z = 1.959964
HALF = 0.04


def judged(estimate, half, study="tabpate", **parts):
    claim = Claim.model_validate(CLAIM | {"study": study, "left": {"metric": "accuracy"}} | parts)
    row = tidy.row(study, {"dataset": "wine"}, "accuracy", estimate, low=estimate - half, high=estimate + half, n=9)
    return verdicts([claim], tidy.frame([row])).iloc[0]


@pytest.mark.parametrize("estimate", [0.45, 0.5, 0.53, 0.56])
def test_chances_are_those_of_runs_that_differ_from_this_one_by_the_noise_of_both(estimate):
    truth, again = np.random.default_rng(1).normal(0, HALF / Z, (2, 20000))
    again += estimate - truth
    within, apart = outcome_chances(estimate - HALF, estimate + HALF, (0.5, np.inf))
    assert within == pytest.approx((again - HALF > 0.5).mean(), abs=0.01)
    assert apart == pytest.approx((again + HALF < 0.5).mean(), abs=0.01)


def test_a_region_with_two_ends_and_an_interval_without_width():
    assert outcome_chances(0.4, 0.4, (0.3, 0.5)) == (1, 0)
    assert outcome_chances(0.6, 0.6, (0.3, 0.5)) == (0, 1)
    within, apart = outcome_chances(0.29, 0.51, (0.3, 0.5))
    assert within == 0
    assert apart < 0.03
    assert outcome_chances(np.nan, np.nan, (0.3, 0.5)) == (0, 0)


def test_so_many_events_have_a_limit_that_one_dependence_attains():
    assert at_least_limit([0.4, 0.4], 1) == pytest.approx(0.8)  # disjoint
    assert at_least_limit([0.9, 0.8], 2) == pytest.approx(0.8)  # nested
    assert at_least_limit([0.2, 0.2, 0.2], 2) == pytest.approx(0.3)  # three disjoint pairs of them, .1 each
    assert at_least_limit([1.0, 0.1, 0.1], 2) == pytest.approx(0.2)  # the certain one beside either of the others
    assert at_least_limit([0.6, 0.6], 1) == 1
    assert at_least_limit([], 1) == 0
    assert at_least_limit([0.3], 0) == 1


def test_no_dependence_of_correlated_events_exceeds_the_limit():
    rng = np.random.default_rng(4)
    for _ in range(20):
        weights = rng.normal(size=(6, 3))
        events = weights @ rng.normal(size=(3, 4000)) > rng.normal(size=(6, 1))
        for count in range(1, 7):
            assert (events.sum(0) >= count).mean() <= at_least_limit(events.mean(1), count) + 1e-9


def simulated(estimates, share):
    """The verdict of a run whose intervals are all noise, and the limit that it states."""
    lows, highs = estimates - HALF, estimates + HALF
    outcomes = np.select([lows > 0, highs < 0], ["holds", "opposite"], "inconclusive")
    chances = [outcome_chances(*ends, (0, np.inf)) for ends in zip(lows, highs, strict=True)]
    parts = zip(outcomes, chances, strict=True)
    tally = Tally([Comparison("", "", outcome, 0.0, again=again) for outcome, again in parts], share, "records")
    return tally.verdict, change_limit(tally.verdict, tally)


def flips_and_limits(count, share, shared, truths, seed=2):
    """Share of pairs of runs with two verdicts, and the mean limit; shared: part of the noise in common."""
    rng, flips, stated = np.random.default_rng(seed), [], []
    for truth in truths:
        noise = np.sqrt(shared) * rng.normal(size=(2, 1)) + np.sqrt(1 - shared) * rng.normal(size=(2, count))
        (first, limit), (second, _) = (simulated(truth + HALF / Z * one, share) for one in noise)
        flips.append(first != second)
        stated.append(limit)
    return np.mean(flips), np.mean(stated)


def test_two_redraws_of_the_noise_change_a_verdict_as_often_as_stated():
    """One comparison, true differences from far below the bound to far above it, and half-widths that are all noise."""
    flips, stated = flips_and_limits(1, 1.0, 0.0, np.linspace(-0.12, 0.12, 2500))
    assert stated == pytest.approx(flips, abs=0.025)
    assert flips > 0.1


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_the_limit_holds_whatever_noise_comparisons_share(shared, share):
    flips, stated = flips_and_limits(5, share, shared, np.linspace(-0.15, 0.15, 800))
    assert stated >= flips - 0.02


def test_comparisons_taken_as_independent_would_understate_a_change():
    """Five comparisons with one noise, of which one must hold: they fail together."""
    chance = outcome_chances(0.01, 0.09, (0, np.inf))[0]
    assert (1 - chance) ** 5 < 0.01
    assert limits([(chance, 0.0)] * 5, 1).fails == pytest.approx(1 - chance)


def test_a_verdict_near_its_bound_says_that_another_run_could_change_it_and_a_clear_one_does_not():
    near, clear = judged(0.55, 0.045), judged(0.7, 0.045)
    assert (near["verdict"], clear["verdict"]) == ("reproduced", "reproduced")
    assert near["reason"].endswith("could change this verdict: probability up to 45%")
    assert "another run" not in clear["reason"]
    assert "another run" in judged(0.54, 0.045)["reason"], "not testable here, reproduced in one of three runs"
    assert "another run" not in judged(0.55, 0.045, study="lira")["reason"], "its noise has a seed"


def test_a_number_that_could_cease_to_agree_counts_too():
    numbers = {"numbers": [{"value": 0.7, "tolerance": 0.05}]}
    assert "another run" in judged(0.7, 0.045, **numbers)["reason"]


def test_an_identity_changes_only_if_the_opposite_is_shown():
    assert "another run" not in judged(0.5, 0.045, relation="at_most", tolerance=0.05, identity=True)["reason"]


def test_the_text_is_rounded_up():
    assert stability_text(0.03) == ""
    assert stability_text(0.11).endswith("up to 15%")
    assert stability_text(1.2).endswith("up to 100%")
