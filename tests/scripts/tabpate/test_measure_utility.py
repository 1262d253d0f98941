"""Utility of PATE students by condition, with approach, counts and paired differences."""

import numpy as np
import pytest
from tabpate_tables import answers, only, utility

from memaudit.common.errors import AuditError

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_condition_is_measured_and_so_is_the_most_frequent_class(table):
    _, right = answers(table)
    found = utility(table, "answers")
    assert set(zip(found["arm"], found["approach"], found["epsilon"], strict=True)) == {
        ("as_published", "tabpate", 1), ("other", "dp-sgd", 1), ("non_private", "non-private", np.inf),
        ("majority", "majority class", np.inf), ("other - as_published", "dp-sgd", 1),
        ("other - non_private", "dp-sgd", 1), ("as_published - non_private", "tabpate", 1),
    }  # fmt: skip
    assert only(found, arm="as_published", metric="accuracy")["estimate"] == pytest.approx(right[:2].mean())
    assert only(found, arm="non_private", metric="accuracy")["estimate"] == pytest.approx(right[4:].mean())
    assert only(found, arm="majority", metric="balanced accuracy")["estimate"] == 0.5
    gap = only(found, arm="other - as_published", metric="accuracy difference")
    assert gap["estimate"] == pytest.approx(right[2:4].mean() - right[:2].mean())
    deviation = only(found, arm="other", metric="accuracy deviation between repeats")
    assert deviation["estimate"] == pytest.approx(right[2:4].mean(1).std(ddof=1))
    assert set(found["study"]) == {"tabpate"}


def test_queries_and_agreement_are_means_over_repeats_of_private_conditions(table):
    answers(table)
    answers(table, "more", pairs=[("shown", 10.0)])
    found = utility(table, "answers", "more")
    asked = found[found["metric"] == "asked"].set_index("arm")
    assert asked["estimate"].to_dict() == {"as_published": 0.5, "other": 2.5, "shown": 0.5}
    assert set(asked["unit"]) == {"records"}
    agreement = found[found["metric"] == "agreement"].set_index("arm")["estimate"]
    assert agreement.to_dict() == pytest.approx({"as_published": 0.55, "other": 0.55})


def test_classes_are_in_public_order_whatever_the_records_show(table):
    """Sorted, p before q, though the file of public facts says q, p: logits are in the order of `Public.encode`."""
    answers(table, share=1.0)
    assert only(utility(table, "answers"), arm="other", metric="accuracy")["estimate"] == 1


def test_a_constant_student_and_one_of_fewer_labels_than_classes_are_counted(table):
    grid, _ = answers(table)
    found = utility(table, "answers").query("metric == 'constant students'").set_index("arm")["estimate"]
    assert found.to_dict() == {"as_published": 2, "other": 0, "non_private": 0}, "0 and 0 labels for two classes"
    answers(table, answered=("release", np.full(6, 2)))
    assert (utility(table, "answers").query("metric == 'constant students'")["estimate"] == 0).all()
    one = np.where(np.isnan(grid.answers.values), np.nan, [0.0, -np.inf])
    answers(table, answers=(grid.answers.dims, one), answered=("release", np.full(6, 50)))
    found = utility(table, "answers").query("metric == 'constant students'")["estimate"]
    assert (found == 2).all(), "one class for all"


def test_an_abstention_is_no_right_answer(table):
    grid, _ = answers(table, share=1.0)
    silent = np.where(np.isnan(grid.answers), np.nan, -np.inf)
    answers(table, share=1.0, answers=(grid.answers.dims, silent))
    assert only(utility(table, "answers"), arm="other", metric="accuracy")["estimate"] == 0


def test_answers_that_are_no_numbers_are_named(table):
    grid, _ = answers(table)
    broken = grid.answers.values.copy()
    broken[3, 5, 1] = np.nan
    answers(table, answers=(grid.answers.dims, broken))
    with pytest.raises(AuditError, match="data set towns, condition other, epsilon 1, repeat 1: answers are missing"):
        utility(table, "answers")
