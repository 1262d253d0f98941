"""Context-query pairs: disjoint, drawn from the records, with the classes of the queries in the context."""

import numpy as np
import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models.context_query_pairs import Pair, Task, batch, draw_pair


def test_context_and_queries_are_disjoint_and_drawn_from_the_records():
    pair = draw_pair(np.arange(100, 120), 12, 8, np.random.default_rng(0))
    assert sorted([*pair.context, *pair.query]) == list(range(100, 120))
    with pytest.raises(AuditError, match="20 records are too few for 12 context rows and 9 queries"):
        draw_pair(np.arange(20), 12, 9, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(5))
def test_uniform_context_has_equally_many_rows_of_each_class_as_far_as_they_reach(seed):
    labels = np.repeat([0, 1, 2], [80, 30, 4])
    pair = draw_pair(np.arange(114), 30, 10, np.random.default_rng(seed), labels, uniform=True)
    common, second, rare = np.bincount(labels[pair.context], minlength=3)
    assert rare == 4 - (labels[pair.query] == 2).sum()
    assert abs(common - second) <= 1
    assert (np.diff(pair.context) < 0).any()  # the classes are not in turn


def test_a_queried_record_whose_class_no_context_has_is_refused_not_replaced():
    labels = np.array([0, 0, 0, 0, 1, 1])
    with pytest.raises(AuditError, match="classes that the context has"):
        draw_pair(np.arange(6), 2, 2, np.random.default_rng(0), labels, queried=np.array([4, 5]))


@pytest.mark.parametrize("seed", range(5))
def test_no_query_has_a_class_that_its_context_lacks(seed):
    labels = np.concatenate([np.zeros(40, int), np.arange(1, 21)])
    pair = draw_pair(np.arange(60), 10, 20, np.random.default_rng(seed), labels)
    assert set(labels[pair.query]) <= set(labels[pair.context])
    assert not set(pair.query) & set(pair.context)
    with pytest.raises(AuditError, match="classes that the context has"):
        draw_pair(np.arange(40, 60), 10, 5, np.random.default_rng(seed), labels[40:])


def test_a_batch_stacks_the_rows_of_its_pairs():
    task = Task(torch.arange(12.0).reshape(6, 2), torch.arange(6), np.arange(6))
    pairs = [Pair(np.array([0, 1]), np.array([2])), Pair(np.array([3, 4]), np.array([5]))]
    context_x, context_y, query_x, query_y = batch(task, pairs)
    assert (context_x.shape, query_x.shape) == ((2, 2, 2), (2, 1, 2))
    assert (context_y.tolist(), query_y.tolist()) == ([[0, 1], [3, 4]], [[2], [5]])


def test_copies_of_queries_stand_behind_them_and_weigh_in_the_step():
    x = torch.arange(6.0)[:, None]
    task = Task(x, torch.arange(6), np.arange(6), copied=np.array([4, 0]), copies=3)
    pair = Pair(np.array([0, 1]), np.array([3, 4, 5]))
    _, _, query_x, query_y = batch(task, [pair])
    assert query_y.tolist() == [[3, 4, 5, 4, 4]]
    assert query_x[0, :, 0].tolist() == [3, 4, 5, 4, 4]
    assert Task(x, torch.arange(6), np.arange(6)).repeated(pair.query).tolist() == [3, 4, 5]
