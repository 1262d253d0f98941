"""PATE teachers: one frozen model with a shard of a private table as context each, and the same synthetic queries."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from memaudit.common.arrays import Array32
from memaudit.common.errors import AuditError
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.model_protocol import TabularModel
from memaudit.privacy.teacher_shards import Context, Predict


def predictor(model: TabularModel, classes: int | None, memory: int = MEMORY) -> Predict:
    """predict(contexts, queries (m, d)): logits (context, query, class), or predicted means (context, query).

    classes: of the public schema; None: numbers are predicted. Each context has a separate forward pass: in a
    batch with another one, last bits and with them a tied vote can differ, and one record would change two teachers.
    """

    def predict(contexts: Sequence[Context], queries: Array32) -> Array32:
        return np.stack([_answer(model, classes, memory, *context, queries) for context in contexts])

    return predict


def _answer(model: TabularModel, classes: int | None, memory: int, x: NDArray, y: NDArray, queries: NDArray) -> Array32:
    dtype = torch.float32 if classes is None else torch.int64
    question = Question(torch.from_numpy(x), torch.from_numpy(y).to(dtype), torch.from_numpy(queries))
    distribution = answer(model, [question], memory)[0]
    predicted = distribution.mean().float() if classes is None else as_wide(distribution, classes)
    if predicted.isnan().any():
        raise AuditError("the model of the PATE teachers predicts NaN; use another model")
    return predicted.numpy()
