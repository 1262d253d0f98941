"""Methods that answer queries themselves: noisy votes and means of PATE teachers, and a network trained with DP-SGD."""

import numpy as np
import pytest
from private_records import CLASSES, NUMBER, by_first_column, private

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.query_answering import answered, at_query_time

QUERY_TIME = {"method": "query-time", "settings": {"teachers": 5}}
DP_SGD = {"method": "dp-sgd", "settings": {"steps": 2}}
DP_LINEAR = {"method": "dp-linear", "settings": {"steps": 2}}
# Noise that does not change a majority of five votes.
AMPLE = Budget(150.0, 1e-5)


QUERIES = np.array([[1, 3], [9, 3], [4, 8]], dtype=np.float32)


def test_query_time_gives_the_label_of_the_teachers_and_minus_infinity_to_the_others():
    logits = answered(QUERY_TIME, private(CLASSES), AMPLE, QUERIES, by_first_column, 0)
    assert logits.tolist() == [[0, -np.inf], [-np.inf, 0], [0, -np.inf]]


def test_query_time_gives_the_mean_of_the_teachers_for_a_number_target():
    numbers = at_query_time(QUERY_TIME, private(NUMBER), AMPLE, QUERIES, by_first_column)
    assert numbers == pytest.approx([10, 90, 40], abs=19)  # seven standard deviations


def test_a_small_budget_hides_the_votes():
    many = np.repeat(QUERIES[:1], 500, axis=0)
    labels = at_query_time(QUERY_TIME, private(CLASSES), Budget(0.1, 1e-5), many, by_first_column)
    assert labels.mean() == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(("public", "shape"), [(CLASSES, (3, 2)), (NUMBER, (3,))], ids=["classes", "number"])
@pytest.mark.parametrize("method", [DP_SGD, DP_LINEAR], ids=["network", "linear"])
def test_trained_models_answer_themselves_and_query_no_teacher(method, public, shape):
    answers = answered(method, private(public), Budget(1.0, 1e-5), QUERIES, None, 0)
    assert answers.shape == shape
    assert np.isfinite(answers).all()


def test_dp_sgd_refuses_a_budget_without_a_guarantee():
    with pytest.raises(AuditError, match="budget"):
        answered(DP_SGD, private(CLASSES), Budget(1.0, 0.5), QUERIES, None, 0)
