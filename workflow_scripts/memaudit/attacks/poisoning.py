"""Mislabelled copies of a target in the context (TabPATE, Appendix A.1 and A.3; Tramèr et al. 2022).

Copies of a non-member meet no contradiction; those of a member meet its true record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memaudit.common.arrays import Array32, Floats, Indices, Mask
from memaudit.common.errors import AuditError
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.model_protocol import TabularModel


def mislabelled(context_x: Tensor, context_y: Tensor, x: Tensor, label: int, copies: int) -> tuple[Tensor, Tensor]:
    """The context (n, d), (n,) with copies of the row x (d,), all of the same label, appended: n + copies rows."""
    return (
        torch.cat([context_x, x.expand(copies, -1)]),
        torch.cat([context_y, context_y.new_full((copies,), int(label))]),
    )


def poisoned_together(
    context_x: Tensor, context_y: Tensor, x: Tensor, poison: Tensor, copies: int, together: int
) -> list[tuple[Indices, Tensor, Tensor]]:
    """Contexts with copies of several targets at once: places of the targets, and the context's rows and labels.

    context_x: (n, d); context_y: (n,); x: (target, d); poison: (target,) label of each target's copies; together:
    targets of a context (Tramèr et al. 2022 attack 250 at once). One forward pass then answers for all of them.
    """
    groups = -(-len(x) // together)
    made = []
    for group in range(min(groups, len(x))):
        places = np.arange(group, len(x), groups)
        added = x[places].repeat_interleave(copies, 0), poison[places].repeat_interleave(copies).to(context_y.dtype)
        made.append((places, torch.cat([context_x, added[0]]), torch.cat([context_y, added[1]])))
    return made


def reference_rows(labels: Indices, size: int, rng: np.random.Generator) -> Indices:
    """At most `size` of the adversary's own records in random order, or as many as there are classes if that is more.

    labels: (record,). One record of each class comes first: a class that is left out could never be a poison label.
    """
    order = rng.permutation(len(labels))
    first = np.sort(np.unique(labels[order], return_index=True)[1])
    chosen = np.concatenate([first, np.setdiff1d(np.arange(len(labels)), first)])
    return order[chosen[: max(size, len(first))]]


def runner_up(logits: Floats, labels: Indices, known: Indices) -> Indices:
    """Poison labels: of the classes `known` but the true one, that with the largest logit; of equal ones the lowest.

    logits: (target, class) of a reference model; labels: (target,), the true classes; known: codes of the classes in
    the reference's context. Its logits do not tell: of a class that is there a forest, too, may say probability 0.
    Returns (target,). Raises AuditError where the reference knows the true class alone.
    """
    classes = np.arange(logits.shape[-1])
    candidates = np.isin(classes, known) & (classes != labels[:, None])
    if not candidates.any(1).all():
        raise AuditError("poison labels: the non-members are all of one class; take a split with more non-members")
    likely = np.maximum(logits.astype(np.float64), np.finfo(np.float64).min)
    return np.where(candidates, likely, -np.inf).argmax(1)


@dataclass
class Counted:
    """A tabular model that counts the contexts which go through it."""

    model: TabularModel
    contexts: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel."""
        answers = self.model.logits(context_x, context_y, query_x)
        self.contexts += len(context_x)
        return answers


@dataclass
class Poisoned:
    """One poisoned shadow context, for one target at a time; answers are cached.

    context_x: (n, d); context_y: (n,); x: (target, d); labels, poison: (target,), true and wrong class; classes: width
    of the logits; memory: MiB of a forward pass.
    """

    model: TabularModel
    context_x: Tensor
    context_y: Tensor
    x: Tensor
    labels: Indices
    poison: Indices
    classes: int
    memory: int = MEMORY
    _said: dict[tuple[int, int], Array32] = field(default_factory=dict)

    def logits(self, targets: Sequence[int] | Indices, copies: Sequence[int] | Indices) -> Array32:
        """Logits about targets (question,) with so many copies (question,): (question, class).

        -inf for a class that is not in the context. Contexts of one size share forward passes: that is up to nine
        times as fast for 16 rows, and never slower.
        """
        asked = list(zip(map(int, targets), map(int, copies), strict=True))
        new = [pair for pair in dict.fromkeys(asked) if pair not in self._said]
        answers = answer(self.model, [self._question(*pair) for pair in new], self.memory)
        self._said |= {
            pair: as_wide(logits, self.classes)[0].numpy() for pair, logits in zip(new, answers, strict=True)
        }
        return np.array([self._said[pair] for pair in asked], dtype=np.float32).reshape(len(asked), self.classes)

    def wrong(self, targets: Sequence[int] | Indices, copies: Sequence[int] | Indices) -> Mask:
        """Whether the predicted class is not the true one: (question,). Of equally likely classes the lowest counts."""
        return self.logits(targets, copies).argmax(-1) != self.labels[np.asarray(targets, dtype=int)]

    def _question(self, target: int, copies: int) -> Question:
        x = self.x[target]
        return Question(*mislabelled(self.context_x, self.context_y, x, self.poison[target], copies), x[None])
