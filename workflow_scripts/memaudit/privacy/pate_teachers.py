"""Teachers: one frozen model, shown a part of a private table each, asked about the same made-up records."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from memaudit.errors import AuditError
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.model_protocol import TabularModel

Context = tuple[NDArray[np.float32], NDArray[np.int64] | NDArray[np.float64]]
Ask = Callable[[Sequence[Context], NDArray[np.float32]], NDArray[np.float32]]


def asker(model: TabularModel, classes: int | None, memory: int = MEMORY) -> Ask:
    """ask(contexts, queries (m, d)): logits (context, query, class), or predicted means (context, query).

    classes: of the public schema; None: numbers are predicted. A context is asked in a forward pass of its own: beside
    another one its last bits can differ, with them a tied vote, and one record would move the votes of two teachers.
    """

    def ask(contexts: Sequence[Context], queries: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.stack([_answer(model, classes, memory, *context, queries) for context in contexts])

    return ask


def _answer(
    model: TabularModel, classes: int | None, memory: int, x: NDArray, y: NDArray, queries: NDArray
) -> NDArray[np.float32]:
    kind = torch.float32 if classes is None else torch.int64
    question = Question(torch.from_numpy(x), torch.from_numpy(y).to(kind), torch.from_numpy(queries))
    found = answer(model, [question], memory)[0]
    said = found.mean().float() if classes is None else as_wide(found, classes)
    if said.isnan().any():
        raise AuditError("a teacher's answer is no number; take another model")
    return said.numpy()
