"""Votes and predictions of PATE teachers, those included that no model can take as its context (TabPATE, Section 4).

What a teacher says follows from its own shard alone, so that one record changes one teacher. A shard may be empty, have
one class, or records that differ in no feature: the packages refuse it as a context, and a run that ended there would
tell that such a shard exists.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Context, Numbers, Predict, Targets


def votes(contexts: Sequence[Context], queries: Numbers, classes: int, predict: Predict) -> NDArray[np.int64]:
    """Votes (query, class) of the PATE teachers.

    A teacher whose records differ in no feature, or have one class, votes for their most frequent class, the first of
    equally frequent ones; a teacher without records for the first class.
    """
    counts = np.zeros((len(queries), classes), dtype=np.int64)
    usable = []
    for x, y in contexts:
        if differ(x) and differ(y):
            usable.append((x, y))
        else:
            counts[:, most_frequent(y)] += 1
    for logits in predict(usable, queries) if usable else ():
        counts[np.arange(len(queries)), logits.argmax(1)] += 1
    return counts


def predictions(contexts: Sequence[Context], queries: Numbers, public: Public, predict: Predict) -> Array:
    """Predictions (query, teacher), with the public range of the target scaled to [0, 1] (TabPATE, Section 5.4).

    A teacher with fewer than two records predicts the middle, one whose records differ in no feature, or have one
    target, the mean of their targets.
    """
    lower, upper = public.target.bounds
    predicted = np.full((len(queries), len(contexts)), 0.5)
    for place, (_, targets) in enumerate(contexts):
        if len(targets) > 1:
            predicted[:, place] = (targets.mean() - lower) / (upper - lower)
    usable = [place for place, (x, targets) in enumerate(contexts) if differ(x) and differ(targets)]
    if usable:
        predicted[:, usable] = ((predict([contexts[place] for place in usable], queries) - lower) / (upper - lower)).T
    return predicted


def class_answers(context: Context, queries: Numbers, classes: int, predict: Predict) -> Array32:
    """Logits (query, class) of a model with a context; with one that no model takes, of what a teacher votes for."""
    x, y = context
    if differ(x) and differ(y):
        return predict([(x.astype(np.float32), y.astype(np.int64))], queries)[0]
    only = np.where(np.arange(classes) == most_frequent(y), 0.0, -np.inf)
    return np.tile(only.astype(np.float32), (len(queries), 1))


def most_frequent(labels: Targets) -> int:
    """The most frequent class, the first of equally frequent ones; the first of all without labels."""
    return int(np.bincount(labels.astype(np.int64), minlength=1).argmax())


def differ(values: Numbers | Targets) -> bool:
    """Whether any feature, or the target, differs among records (n, ...), NaN being equal to NaN."""
    return len(values) > 0 and not np.array_equal(values, np.broadcast_to(values[0], values.shape), equal_nan=True)
