"""Attacks on students that may be constant are found; utility, and attacks on a minority of them, are not."""

import numpy as np
import pytest

from memaudit.claims.attacked_students import is_utility, left_out_again, vacuous
from memaudit.common import tidy
from memaudit.common.constant_students import ATTACKED, CONSTANT

KEY = {"dataset": "wine", "arm": "as_published", "epsilon": 1}


def rows(repeats=0, shadows=None):
    """Results of a condition with so many constant students of 3 repeats, and of (constant, all) shadow contexts."""
    found = [tidy.row("tabpate", KEY, metric, 0.5) for metric in ("auc", "accuracy")]
    found += [tidy.row("tabpate", KEY | {"arm": "as_published - non_private"}, "auc difference", 0.1)]
    found += [tidy.row("tabpate", KEY, CONSTANT, repeats, n=3)]
    found += [tidy.row("tabpate", KEY, ATTACKED, shadows[0], n=shadows[1])] if shadows else []
    return tidy.expand(tidy.frame(found))


def test_utility_of_constant_students_is_evidence_and_an_attack_on_them_is_none():
    assert vacuous(rows(1)).tolist()[:3] == [True, False, True]
    assert not vacuous(rows(0)).any()
    assert is_utility(rows()).tolist()[:3] == [False, True, False]


@pytest.mark.parametrize(
    ("constant", "contexts", "left_out"),
    [(0, 16, False), (50, 512, False), (10, 32, False), (11, 32, True), (32, 32, True)],
)
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_where_attacked_students_were_counted_they_alone_decide(constant, contexts, left_out, repeats):
    assert vacuous(rows(repeats, (constant, contexts)))[0] == left_out


@pytest.mark.parametrize("contexts", [16, 32, 512])
def test_a_condition_of_which_half_are_constant_is_judged_in_one_run_of_twenty_at_most(contexts):
    drawn = np.random.default_rng(0).binomial(contexts, 0.5, 1000)
    assert 0.005 < np.mean([not vacuous(rows(0, (each, contexts)))[0] for each in drawn]) <= 0.06


def test_another_run_leaves_a_condition_near_the_limit_out_about_as_often_as_said():
    drawn = np.random.default_rng(0).binomial(32, 10 / 32, 1000)
    share = np.mean([vacuous(rows(0, (each, 32)))[0] for each in drawn])
    assert left_out_again(rows(0, (10, 32))) == pytest.approx(share, abs=0.05)
    assert share > 0.3
    assert left_out_again(rows(0, (50, 512))) < 1e-9
    assert left_out_again(rows(0, (20, 32))) == 0, "it is left out here"
    assert left_out_again(rows(3)) == 0
