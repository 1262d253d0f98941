"""The probability that another run gives another verdict agrees with simulated runs of known truth."""

import numpy as np
import pytest

from memaudit.common import tidy
from memaudit.statistics.claims import Claim
from memaudit.statistics.verdict_stability import at_least, outcome_chances, stability_text
from memaudit.statistics.verdicts import verdicts

CLAIM = {"id": "x", "paper": "p", "place": "Table 2", "text": "t", "relation": "greater", "right": {"value": 0.5}}


def judged(estimate, half, study="tabpate", **parts):
    claim = Claim.model_validate(CLAIM | {"study": study, "left": {"metric": "accuracy"}} | parts)
    row = tidy.row(study, {"dataset": "wine"}, "accuracy", estimate, low=estimate - half, high=estimate + half, n=9)
    return verdicts([claim], tidy.frame([row])).iloc[0]


@pytest.mark.parametrize("estimate", [0.45, 0.5, 0.53, 0.56])
def test_chances_are_those_of_runs_whose_estimates_scatter_as_the_interval_says(estimate):
    half, rng = 0.04, np.random.default_rng(1)
    again = rng.normal(estimate, half / 1.959964, 20000)
    within, apart = outcome_chances(estimate - half, estimate + half, (0.5, np.inf))
    assert within == pytest.approx((again - half > 0.5).mean(), abs=0.01)
    assert apart == pytest.approx((again + half < 0.5).mean(), abs=0.01)


def test_a_region_with_two_ends_and_an_interval_without_width():
    assert outcome_chances(0.4, 0.4, (0.3, 0.5)) == (1, 0)
    assert outcome_chances(0.6, 0.6, (0.3, 0.5)) == (0, 1)
    within, apart = outcome_chances(0.29, 0.51, (0.3, 0.5))
    assert within == 0
    assert apart < 0.01
    assert outcome_chances(np.nan, np.nan, (0.3, 0.5)) == (0, 0)


def test_so_many_of_independent_events():
    assert at_least([0.5, 0.5], 1) == pytest.approx(0.75)
    assert at_least([0.9, 0.8], 2) == pytest.approx(0.72)
    assert at_least([], 1) == 0
    assert at_least([0.3], 0) == 1


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


def test_the_text_is_rounded_up():
    assert stability_text(0.97) == ""
    assert stability_text(0.89).endswith("up to 15%")
