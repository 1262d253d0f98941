"""A verdict that results left out decide says so, and gives no probability."""

import numpy as np
import pytest

from memaudit.claims.claim_predicates import Claim
from memaudit.claims.verdict_gates import condition_limit, gate_text
from memaudit.claims.verdicts import verdicts
from memaudit.common import tidy

BASE = {"id": "x", "paper": "p", "place": "Table 2", "text": "t", "study": "tabpate"}
ABOVE = {"relation": "greater", "left": {"metric": "tpr"}, "right": {"value": 0.5}}
BOUND = {"relation": "at_most", "left": {"metric": "bound", "where": {"arm": "private"}}, "right": {"value": 1.0}}
GATE = "another run, with other noise, may give another verdict, since this one hangs on {};"


def row(metric, estimate, half=0.01, null=0.5, **keys):
    keys = {"dataset": "wine", "arm": "private", "epsilon": "10"} | keys
    return tidy.row("tabpate", keys, metric, estimate, low=estimate - half, high=estimate + half, null=null)


def claim(**parts):
    return Claim.model_validate(BASE | parts)


def judged(one, *rows):
    return verdicts([one], tidy.frame(list(rows))).iloc[0]


def test_a_constant_student_without_which_there_is_nothing_to_judge():
    found = judged(claim(**ABOVE), row("tpr", 0.8), row("constant students", 1))
    assert found["verdict"] == "not testable at this scale"
    assert GATE.format("an attack on a constant student") in found["reason"]


def test_the_utility_of_a_constant_student_decides_in_this_run_alone():
    """Its rows have intervals of this run's students, of which another run may have others."""
    left = {"metric": "accuracy", "where": {"arm": "private"}}
    constant = row("constant students", 1)
    found = judged(claim(**ABOVE | {"left": left}), row("accuracy", 0.8), constant)
    assert found["verdict"] == "reproduced"
    assert GATE.format("a constant student") in found["reason"]
    other = row("accuracy", 0.9, dataset="iris"), row("accuracy", 0.8), constant
    assert "another run" not in judged(claim(**ABOVE | {"left": left}), *other)["reason"], "the same without it"


def test_two_constant_students_that_do_not_differ_may_in_another_run():
    difference = {"metric": "accuracy difference", "where": {"arm": "private - other"}}
    sides = {"left": {"metric": "accuracy", "where": {"arm": "private"}}, "right": {"value": 0}}
    one = claim(relation="greater", **sides, difference=difference)
    same = row("accuracy difference", 0.0, half=0.0, arm="private - other")
    found = judged(one, same, row("constant students", 3), row("constant students", 3, arm="other"))
    assert found["verdict"] == "not testable at this scale"
    assert GATE.format("a constant student") in found["reason"]


def test_a_constant_student_that_leaves_a_list_incomplete_and_an_arm_that_no_run_has():
    left = {"metric": "tpr", "where": {"arm": ["private", "other"]}}
    rows = row("tpr", 0.8), row("tpr", 0.8, arm="other")
    found = judged(claim(**ABOVE | {"left": left}), *rows, row("constant students", 1, arm="other"))
    assert GATE.format("an attack on a constant student") in found["reason"]
    absent = judged(claim(**ABOVE | {"left": left}), rows[0])
    assert "no results with arm" in absent["reason"]
    assert "another run" not in absent["reason"]


def test_a_condition_at_chance():
    one = claim(**ABOVE, provided={"metric": "auc"})
    found = judged(one, row("tpr", 0.8), row("auc", 0.505))
    assert found["verdict"] == "not testable at this scale"
    assert GATE.format("a condition that is not fulfilled") in found["reason"]
    assert "another run" not in judged(one, row("tpr", 0.8))["reason"], "no run says whether it is above chance"
    assert "another run" not in judged(one, row("tpr", 0.8), row("auc", 0.6))["reason"]


def test_a_condition_that_could_be_at_chance_in_another_run_counts_in_the_limit():
    one, near = claim(**ABOVE, provided={"metric": "auc"}), row("auc", 0.512)
    stated = judged(one, row("tpr", 0.8), near)["reason"]
    assert "could change this verdict: probability up to" in stated
    runs = 0.512 + 0.01 / 1.96 * np.sqrt(2) * np.random.default_rng(0).normal(size=20000)
    limit = condition_limit(one, tidy.expand(tidy.frame([near])))
    assert limit == pytest.approx((runs - 0.01 <= 0.5).mean(), abs=0.01)


def test_a_condition_near_its_nominal_value_counts_in_the_limit_on_both_sides():
    one, rate = claim(**ABOVE, provided={"metric": "rate", "near": 0.1}), row("rate", 0.51)
    limit = condition_limit(one, tidy.expand(tidy.frame([rate])))
    runs = 0.51 + 0.01 / 1.96 * np.sqrt(2) * np.random.default_rng(0).normal(size=20000)
    assert limit == pytest.approx(((runs - 0.01 <= 0.45) | (runs + 0.01 >= 0.55)).mean(), abs=0.01)
    assert limit > 0


def test_a_positive_control_that_finds_nothing():
    one = claim(**BOUND, control={"metric": "bound", "where": {"arm": "open"}})
    found = judged(one, row("bound", 0.2), row("bound", 0.9, arm="open"))
    assert GATE.format("a positive control that finds nothing") in found["reason"]
    assert "another run" not in judged(one, row("bound", 0.2), row("bound", 3.0, arm="open"))["reason"]


def test_gates_that_decide_only_together_are_named_so():
    both = claim(**ABOVE, provided={"metric": "auc"})
    found = judged(both, row("tpr", 0.8), row("constant students", 1), row("auc", 0.505))
    assert GATE.format("several conditions together") in found["reason"]
    assert "hangs on a or b;" in gate_text(["a", "b", "several conditions together"])


def test_a_verdict_that_is_the_same_with_what_is_left_out_is_not_decided_by_it():
    rows = row("tpr", 0.8), row("tpr", 0.9, dataset="iris"), row("constant students", 1, dataset="iris")
    assert "another run" not in judged(claim(**ABOVE), *rows)["reason"]


def test_a_table_without_one_of_the_listed_epsilons_is_not_judged():
    """Two tables with one epsilon each are no results at both."""
    left, above = {"metric": "tpr", "where": {"epsilon": [1, 10]}}, [row("auc", 0.6), row("auc", 0.6, dataset="iris")]
    one = claim(**ABOVE | {"left": left}, provided={"metric": "auc"}, by="dataset")
    both = row("tpr", 0.8, epsilon=1), row("tpr", 0.8), *above
    apart = row("tpr", 0.8, epsilon=1), row("tpr", 0.8, dataset="iris"), *above
    assert judged(one, *both)["reason"].startswith("holds in 2 of 2 comparisons")
    assert judged(one, *apart)["verdict"] == "not testable at this scale"
    assert judged(one, *both, row("tpr", 0.1, dataset="iris"))["verdict"] == "reproduced"
    keyless = one.model_copy(update={"by": ["dataset", "learning_rate"]})
    assert judged(keyless, *both)["verdict"] == "reproduced", "no result has the second key"


def test_a_share_of_constant_students_near_the_limit_counts_in_the_limit_of_another_verdict():
    near, far = (row("constant shadow students", count) | {"n": 32} for count in (10, 0))
    limit = judged(claim(**ABOVE), row("tpr", 0.8), near)["reason"]
    assert "could change this verdict: probability up to" in limit
    assert "another run" not in judged(claim(**ABOVE), row("tpr", 0.8), far)["reason"]
