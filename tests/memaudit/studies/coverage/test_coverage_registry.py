"""Summaries of simulated outcomes: rates, their errors, refusals and verdicts."""

import numpy as np
import pytest

from memaudit.studies.coverage.coverage_registry import Bound, Case, Interval, Rejection, summarise, verdict


def test_coverage_counts_the_defined_intervals_alone():
    outcomes = [Interval(0, 1, 0.5), Interval(0, 1, 2.0), Interval(np.nan, np.nan, 0.5)]
    found = summarise(outcomes, 4)
    assert (found["kind"], found["n"], found["rate"], found["width"]) == ("interval", 3, 0.5, 1.0)
    assert found["refused"] == pytest.approx(0.5)  # one without an outcome, one of NaN
    assert summarise(outcomes[2:], 1)["verdict"] == "refused"


def test_intervals_of_one_data_set_count_as_one():
    """Ten intervals that miss together are one miss: the error is that of two data sets."""
    both = [Interval(np.zeros(10), np.ones(10), np.full(10, truth)) for truth in (0.5, 2.0)]
    found = summarise(both, 2)
    assert found["rate"] == 0.5
    assert found["error"] == pytest.approx(0.5)


def test_the_size_of_tests_and_the_excess_of_bounds():
    assert summarise([Rejection(True), Rejection(False), Rejection(0.25), Rejection(False)], 4)[
        "rate"
    ] == pytest.approx(0.3125)
    found = summarise([Bound(0.5, 1.0), Bound(1.5, 1.0), Bound(0.7, 1.0)], 3)
    assert found["rate"] == pytest.approx(1 / 3)
    assert found["tightness"] == 0.7
    assert "tightness" not in summarise([Bound(0.0, 0.0)], 1)


@pytest.mark.parametrize(
    ("kind", "rate", "word"),
    [
        (Interval, 0.92, "too narrow"),
        (Interval, 0.93, "as stated"),
        (Interval, 0.98, "conservative"),
        (Rejection, 0.06, "as stated"),
        (Rejection, 0.07, "too often"),
        (Bound, 0.0, "as stated"),
        (Interval, None, "refused"),
    ],
)
def test_a_rate_has_its_word(kind, rate, word):
    assert verdict(kind, rate) == word


def test_cheap_cases_are_simulated_more_often_and_expensive_ones_less():
    cheap, dear = (Case("", "", lambda rng: {}, {}, **options) for options in ({"times": 4}, {"most": 300}))
    assert (cheap.simulations(1000), dear.simulations(1000), dear.simulations(20)) == (4000, 300, 20)


def test_shares_of_statements_are_pooled_over_data_sets():
    """One data set of 2 statements, all right, and one of 38, of which 4 are false: .1, not .05."""
    found = summarise([Rejection(0, 2), Rejection(4, 38), Rejection(0, 0)], 3)
    assert (found["rate"], found["refused"]) == (pytest.approx(0.1), pytest.approx(1 / 3))
    assert found["error"] == pytest.approx(np.sqrt((0.1 * 2) ** 2 + (4 - 3.8) ** 2) / 40)
    assert summarise([Rejection(0, 0)], 1)["verdict"] == "refused"
