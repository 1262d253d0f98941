"""Rows of conditions with a constant student, on either side of a difference, are found; no others are."""

import pandas as pd

from memaudit.common import tidy
from memaudit.common.constant_students import CONSTANT, rests_on_constant

ROWS = [
    ({"dataset": "wine", "arm": "as_published", "epsilon": 1}, CONSTANT, 2),
    ({"dataset": "wine", "arm": "as_published", "epsilon": 10}, CONSTANT, 0),
    ({"dataset": "wine", "arm": "as_published", "epsilon": 1}, "accuracy", 0.5),
    ({"dataset": "wine", "arm": "as_published", "epsilon": 10}, "accuracy", 0.5),
    ({"dataset": "beer", "arm": "as_published", "epsilon": 1}, "accuracy", 0.5),
    ({"dataset": "wine", "arm": "mst - as_published", "epsilon": 1}, "accuracy difference", 0.5),
    ({"dataset": "wine", "arm": "mst - non_private", "epsilon": 1}, "accuracy difference", 0.5),
    ({"dataset": "wine", "arm": "non_private", "epsilon": "inf"}, "accuracy", 0.9),
]


def rows(*changed):
    return tidy.expand(tidy.frame([tidy.row("tabpate", *row) for row in [*ROWS, *changed]]))


def test_a_constant_student_is_found_in_its_own_rows_and_in_differences_from_it():
    assert rests_on_constant(rows()).tolist() == [True, False, True, False, False, True, False, False]


def test_a_constant_model_without_privacy_is_found_at_every_epsilon_that_is_held_against_it():
    constant = ({"dataset": "wine", "arm": "non_private", "epsilon": "inf"}, CONSTANT, 1)
    assert rests_on_constant(rows(constant)).tolist()[-3:] == [True, True, True]


def test_other_studies_have_none():
    assert not rests_on_constant(pd.DataFrame({"metric": ["auc"], "estimate": [1.0]})).any()
