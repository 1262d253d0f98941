"""PATE teachers are queried one by one: predictions of one do not depend on the context of another."""

import numpy as np
import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models.predictive_distributions import Binned
from memaudit.privacy.pate_teachers import predictor


class Mean:
    """Predicts the mean of its context, plus the number of contexts in the same pass."""

    alone = True

    def __init__(self, task):
        self.task = task

    def logits(self, context_x, context_y, query_x):
        predicted = context_x.mean((1, 2))[:, None, None] + query_x.sum(-1, keepdim=True) * torch.arange(2.0)
        return predicted + len(context_x)


CONTEXTS = [(np.full((4, 3), value, np.float32), np.array([0, 1, 1, 0])) for value in (1, 2, 3)]
QUERIES = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_each_teacher_answers_every_query_with_every_class():
    logits = predictor(Mean("classification"), 3)(CONTEXTS, QUERIES)
    assert logits.shape == (3, 2, 3)
    assert (logits[:, :, 0] == np.array([[2, 2], [3, 3], [4, 4]])).all()
    assert (logits[0, :, 1] == [2 + 3, 2 + 12]).all()
    assert (logits[:, :, 2] == -np.inf).all()


def test_a_teacher_is_alone_in_its_forward_pass():
    """Equal shapes would go together: the last bits of an answer, and a tied vote, would then depend on the others."""
    predict = predictor(Mean("classification"), 2)
    together = predict(CONTEXTS, QUERIES)
    for place, context in enumerate(CONTEXTS):
        assert (predict([context], QUERIES)[0] == together[place]).all()


def test_numbers_are_predicted_by_their_means():
    class Regressor(Mean):
        def distribution(self, context_x, context_y, query_x):
            assert context_y.dtype == torch.float32
            mean = context_y.mean(1)[:, None].expand(query_x.shape[:2])
            return Binned.from_normal(mean, torch.ones_like(mean))

    contexts = [(x, y + 10.5) for x, y in CONTEXTS]
    predicted = predictor(Regressor("regression"), None)(contexts, QUERIES)
    np.testing.assert_allclose(predicted, np.full((3, 2), 11.0), atol=1e-4)


def test_a_prediction_of_nan_is_refused():
    with pytest.raises(AuditError, match="predicts NaN"):
        predictor(Mean("classification"), 2)([(np.full((2, 3), np.nan, np.float32), np.array([0, 1]))], QUERIES)
