"""Portions of texts, and draws from them, whose numbers are known from the config."""

from collections.abc import Iterable

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError


def exact_portions(ids: Iterable[str], validation: float, test: float) -> dict[str, slice]:
    """Places of validation, test and training texts by the rank of their id, whatever their label is.

    Of n texts, round(n validation) and then round(n test) come first, the rest trains. Members are assigned anew for
    each target, but the texts of a corpus are the same: a text has the same portion in all its combinations. Raises
    AuditError for texts that are not in the order of their ids.
    """
    names = list(ids)
    if names != sorted(names):
        raise AuditError("portions: the texts are not in the order of their ids; extract their features again")
    first = round(len(names) * validation)
    second = first + round(len(names) * test)
    return {"validation": slice(0, first), "test": slice(first, second), "training": slice(second, len(names))}


def balanced_draw(member: Mask, count: int, rng: np.random.Generator) -> Array:
    """Sorted places of `count` random texts, half of them members; where a class has too few, more of the other.

    member: (text,). Raises AuditError for fewer texts than `count`.
    """
    if count > member.size:
        raise AuditError(f"{member.size} texts to train on, {count} are needed; request fewer samples")
    inside, outside = (rng.permutation(np.flatnonzero(member == value)) for value in (True, False))
    members = min(max(count // 2, count - outside.size), inside.size)
    return np.sort(np.concatenate([inside[:members], outside[: count - members]]))
