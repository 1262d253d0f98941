"""Comparisons: paired within a setting, placed by their whole interval, with the size that would decide."""

import numpy as np
import pytest

from memaudit.claims.claim_comparisons import Value, comparisons, printed_comparisons
from memaudit.claims.claim_predicates import Claim
from memaudit.common import tidy


def claim(relation="close", **parts):
    base = {"id": "x", "paper": "p", "place": "q", "text": "t", "study": "demo", "relation": relation}
    return Claim.model_validate(base | {"left": {"metric": "auc"}, "right": {"value": 0.5}} | parts)


def results(*values, half=0.02, **keys):
    rows = [
        tidy.row("demo", {"dataset": f"d{i}", **keys}, "auc", value, low=value - half, high=value + half, null=0.45)
        for i, value in enumerate(values)
    ]
    return tidy.expand(tidy.frame(rows))


@pytest.mark.parametrize(
    ("value", "outcome", "factor"),
    [(0.51, "holds", 1.0), (0.54, "inconclusive", 4.0), (0.56, "inconclusive", 4.0), (0.60, "opposite", 1.0)],
)
def test_an_interval_is_within_across_or_apart_and_the_factor_moves_it_to_its_estimates_side(value, outcome, factor):
    """Within .05 of one half: from .54 as from .56 the edge is .01 away, half of the half-width."""
    (one,) = comparisons(claim(tolerance=0.05), results(value))
    assert one.outcome == outcome
    assert one.factor == pytest.approx(factor)
    assert one.supports == (value < 0.55)


def test_the_size_that_a_factor_names_decides_in_simulation():
    """Means of normal draws: with that many times the data the interval clears the bound in about half of the runs, and
    with four times as many nearly always."""
    rng, decided = np.random.default_rng(3), {1: 0, 4: 0}
    truth, half, trials = 0.53, 0.05, 400
    for _ in range(trials):
        (one,) = comparisons(claim("greater"), results(truth, half=half))
        for more in decided:
            size = more * one.factor
            smaller = half / np.sqrt(size)
            decided[more] += rng.normal(truth, smaller / 1.96) - smaller > 0.5
    assert 0.42 < decided[1] / trials < 0.58
    assert decided[4] / trials > 0.95


def test_the_null_of_a_row_can_be_its_right_side():
    (one,) = comparisons(claim("greater", right={"key": "null"}), results(0.48))
    assert one.outcome == "holds"


def test_a_printed_number_is_compared_with_the_rows_that_it_is_printed_for():
    number = {"value": 0.7, "tolerance": 0.1, "relative": True, "of": {"metric": "auc", "where": {"dataset": "d1"}}}
    one_number = claim(numbers=[number])
    (one,) = printed_comparisons(one_number, one_number.numbers[0], results(0.2, 0.72))
    assert (one.outcome, one.numbers) == ("holds", "0.72 [0.7, 0.74] against 0.7 in the paper")


def test_a_value_shows_its_interval():
    assert (str(Value(0.5, 0.4, 0.6)), str(Value(0.5, 0.5, 0.5))) == ("0.5 [0.4, 0.6]", "0.5")


def test_a_predictor_that_ranks_alike_counts_once_whatever_its_last_digits():
    rows = [
        tidy.row("demo", {"predictor": name}, "auc", value, low=value - 0.02, high=value + 0.02, null=0.5)
        for name, value in (("loss", 0.6911806), ("logit_gap", 0.6911786), ("psmi", 0.75))
    ]
    assert len(comparisons(claim("greater"), tidy.expand(tidy.frame(rows)))) == 2


def test_every_value_but_one_leaves_out_rows_without_the_key():
    table = tidy.expand(tidy.frame([*_rows("a", "b"), tidy.row("demo", {}, "auc", 0.6, low=0.5, high=0.7, null=0.5)]))
    found = comparisons(claim("greater", where={"dataset": {"other_than": "b"}}), table)
    assert [one.setting for one in found] == ["dataset=a"]


def _rows(*datasets):
    return [tidy.row("demo", {"dataset": one}, "auc", 0.6, low=0.55, high=0.65, null=0.5) for one in datasets]
