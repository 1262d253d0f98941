"""Votes and predictions of PATE teachers, also of those whose shards no model takes as a context."""

import numpy as np
import pytest

from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_votes import predictions, votes

X = np.array([[0.0, 1.0], [1.0, 1.0], [8.0, 1.0], [9.0, 1.0]], dtype=np.float32)
Y = np.array([0, 0, 1, 1])
COPIES = np.repeat(X[:1], 3, axis=0)
WITH_MISSING = np.where([False, True], np.nan, COPIES).astype(np.float32)
NUMBER = Public("t", "documented", 100, "regression", (Column("a", (0.0, 10.0)),), Column("target", (0.0, 100.0)))


def nearest(contexts, queries):
    """Logits by the nearest record; refuses, as the packages do, what has one class or no feature that differs."""
    logits = np.zeros((len(contexts), len(queries), 2), dtype=np.float32)
    for place, (x, y) in enumerate(contexts):
        assert len(np.unique(x, axis=0)) > 1
        assert len(np.unique(y)) > 1
        closest = np.abs(queries[:, None, 0] - x[None, :, 0]).argmin(1)
        logits[place, np.arange(len(queries)), y[closest]] = 1.0
    return logits


def means(contexts, queries):
    return 100 * nearest([(x, (y > 50).astype(int)) for x, y in contexts], queries)[:, :, 1]


def test_every_teacher_has_one_vote():
    assert votes([(X, Y), (X[::-1], Y[::-1])], X[[0, 3]], 2, nearest).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize(
    ("x", "y", "label"),
    [
        (X[2:], Y[2:], 1),
        (X[:0], Y[:0], 0),
        (COPIES, np.array([0, 1, 1]), 1),
        (WITH_MISSING, np.array([0, 1, 1]), 1),
        (COPIES[:2], np.array([1, 0]), 0),
        (X[:1], np.array([1]), 1),
    ],
    ids=["one class", "empty", "copies", "copies with a missing cell", "a tie", "one record"],
)
def test_a_teacher_that_no_model_can_be_votes_for_its_most_frequent_class(x, y, label):
    assert votes([(x, y)], X, 2, nearest).tolist() == [[1 - label, label]] * 4
    assert votes([(x, y), (X, Y)], X, 2, nearest).sum(1).tolist() == [2] * 4


@pytest.mark.parametrize(
    ("x", "y", "share"),
    [
        (COPIES[:2], [10.0, 40.0], 0.25),
        (X[:2], [30.0, 30.0], 0.3),
        (X[:1], [90.0], 0.5),
        (X[:0], [], 0.5),
    ],
    ids=["copies", "one target", "one record", "empty"],
)
def test_a_teacher_that_no_model_can_be_predicts_its_mean_or_the_middle(x, y, share):
    assert predictions([(x, np.array(y))], X, NUMBER, means).tolist() == [[share]] * 4


def test_predictions_are_shares_of_the_public_range():
    contexts = [(X, np.array([0.0, 0.0, 100.0, 100.0])), (COPIES[:2], np.array([10.0, 40.0]))]
    assert predictions(contexts, X[[0, 3]], NUMBER, means).tolist() == [[0.0, 0.25], [1.0, 0.25]]
