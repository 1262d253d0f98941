"""Mislabelled copies: labels, reference rows, and contexts that hold them."""

import itertools

import numpy as np
import pytest
import torch

from memaudit.attacks.poisoning import mislabelled, reference_rows, runner_up
from memaudit.common.errors import AuditError


def test_copies_are_appended_with_one_wrong_label():
    x, y = torch.arange(6.0).reshape(3, 2), torch.tensor([0, 1, 2])
    poisoned = mislabelled(x, y, torch.tensor([7.0, torch.nan]), 2, 3)
    assert torch.equal(poisoned[0][:3], x)
    assert torch.equal(poisoned[0][3:].isnan(), torch.tensor([[False, True]] * 3))
    assert poisoned[1].tolist() == [0, 1, 2, 2, 2, 2]
    assert mislabelled(x, y, x[0], 2, 0)[1].tolist() == [0, 1, 2]


def test_the_poison_label_is_the_runner_up_to_the_true_class_even_where_the_reference_is_wrong():
    logits = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [0.0, 1.0, 1.0]])
    assert runner_up(logits, np.array([0, 1, 2, 0]), np.arange(3)).tolist() == [1, 0, 0, 1]
    binary = np.random.default_rng(1).normal(size=(20, 2))
    labels = np.arange(20) % 2
    assert runner_up(binary, labels, np.array([1, 0, 1])).tolist() == (1 - labels).tolist()


def test_a_class_that_the_reference_lacks_is_no_poison_label_but_an_impossible_one_can_be():
    labels = np.array([0, 1])
    assert runner_up(np.array([[1.0, 2, 9]] * 2), labels, np.array([0, 1])).tolist() == [1, 0]
    forest = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 0.0, -np.inf]])
    assert runner_up(forest, labels, np.array([0, 2, 1])).tolist() == [1, 0]
    assert runner_up(forest, labels, np.array([0, 2])).tolist() == [2, 0]
    with pytest.raises(AuditError, match="poison labels: the non-members are all of one class"):
        runner_up(forest, labels, np.array([1, 1]))


def test_the_reference_has_every_class_and_a_smaller_one_begins_a_larger_one():
    labels = np.array([0] * 40 + [1] + [2])
    chosen = [reference_rows(labels, size, np.random.default_rng(3)) for size in (2, 3, 10, 100)]
    assert [len(rows) for rows in chosen] == [3, 3, 10, 42]
    assert all(set(labels[rows]) == {0, 1, 2} for rows in chosen)
    assert all(large[: len(small)].tolist() == small.tolist() for small, large in itertools.pairwise(chosen))
    assert sorted(chosen[-1]) == list(range(42))
