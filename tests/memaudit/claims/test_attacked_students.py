"""Attacks on students that may be constant are found; utility, and attacks on a minority of them, are not."""

import numpy as np
import pytest

from memaudit.claims.attacked_students import is_utility, vacuous
from memaudit.common import tidy
from memaudit.common.constant_students import CONSTANT

KEY = {"dataset": "wine", "arm": "as_published", "epsilon": 1}


def rows(constant, repeats):
    found = [tidy.row("tabpate", KEY, CONSTANT, constant, n=repeats)]
    found += [tidy.row("tabpate", KEY, metric, 0.5) for metric in ("auc", "accuracy")]
    found += [tidy.row("tabpate", KEY | {"arm": "as_published - non_private"}, "auc difference", 0.1)]
    return tidy.expand(tidy.frame(found))


def test_utility_of_constant_students_is_evidence_and_an_attack_on_them_is_none():
    assert vacuous(rows(3, 3)).tolist() == [True, True, False, True]
    assert is_utility(rows(3, 3)).tolist() == [False, False, True, False]


@pytest.mark.parametrize(("constant", "repeats", "left_out"), [(0, 3, False), (1, 3, True), (1, 5, True), (1, 0, True)])
def test_one_constant_student_of_few_repeats_leaves_an_attack_out(constant, repeats, left_out):
    assert vacuous(rows(constant, repeats))[1] == left_out


@pytest.mark.parametrize(("constant", "repeats", "left_out"), [(1, 8, False), (21, 100, False), (60, 100, True)])
def test_more_repeats_show_that_fewer_than_half_are_constant(constant, repeats, left_out):
    assert vacuous(rows(constant, repeats))[1] == left_out


def test_a_condition_of_which_half_are_constant_is_judged_in_one_run_of_twenty_at_most():
    drawn = np.random.default_rng(0).binomial(30, 0.5, 2000)
    assert 0.01 < np.mean([not vacuous(rows(each, 30))[1] for each in drawn]) <= 0.06
