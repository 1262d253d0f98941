"""Neighbours, gradient norms and the course of a training against brute force, closed forms and cases known by hand."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import torch

from memaudit.attacks import memorization_features as features
from memaudit.common.errors import AuditError


def shapley_by_definition(agree, neighbours):
    """Shapley value of every training record for one test record, over all coalitions; agree: (training,)."""
    count = len(agree)

    def value(coalition):
        return sum(agree[one] for one in sorted(coalition)[:neighbours]) / neighbours

    values = np.zeros(count)
    for one in range(count):
        others = [other for other in range(count) if other != one]
        for size in range(count):
            gains = [value({*chosen, one}) - value(chosen) for chosen in combinations(others, size)]
            values[one] += sum(gains) / comb(count - 1, size) / count
    return values


@pytest.mark.parametrize("neighbours", [1, 2, 3, 9])
def test_shapley_values_are_those_of_the_definition_over_all_coalitions(neighbours):
    agree = np.random.default_rng(neighbours).random((4, 6)) < 0.5
    expected = [shapley_by_definition(row.astype(float), neighbours) for row in agree]
    np.testing.assert_allclose(features.shapley_values(agree, neighbours), expected, atol=1e-12)


def test_neighbours_are_the_others_and_values_are_means_over_them_as_test_records(monkeypatch):
    rng = np.random.default_rng(1)
    states, labels = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    found = features.neighbour_scores(states, labels, 4)
    distances = np.linalg.norm(states[:, None] - states, axis=2)
    disagreement, value = np.empty(30), np.zeros(30)
    for test in range(30):
        order = [one for one in np.argsort(distances[test]) if one != test]
        agree = labels[order] == labels[test]
        disagreement[test] = 1 - agree[:4].mean()
        value[order] += features.shapley_values(agree[None], 4)[0]
    np.testing.assert_allclose(found.neighbour_disagreement, disagreement)
    np.testing.assert_allclose(found.neighbour_value, -value / 29, atol=1e-12)
    monkeypatch.setattr(features, "DISTANCES", 70)  # two rows at once
    np.testing.assert_allclose(features.neighbour_scores(states, labels, 4), found)


def test_a_record_among_those_of_the_other_class_has_the_highest_scores():
    states = np.concatenate([np.random.default_rng(2).normal(size=(20, 2)) + 10 * place for place in (0, 1)])
    labels = np.repeat([0, 1], 20)
    labels[5] = 1
    for scores in features.neighbour_scores(states, labels):
        assert np.argmax(scores) == 5
    with pytest.raises(AuditError, match="1 hidden states and 1 labels"):
        features.neighbour_scores(states[:1], labels[:1])


def test_the_gradient_norm_is_autograds_up_to_the_stated_constant():
    rng = np.random.default_rng(3)
    for classes, exact in ((2, True), (5, False)):
        states, labels = rng.normal(size=(12, 4)), rng.integers(0, classes, 12)
        head, norms, losses = torch.nn.Linear(4, classes).double(), [], []
        for state, label in zip(torch.from_numpy(states), labels, strict=True):
            head.zero_grad()
            loss = torch.nn.functional.cross_entropy(head(state)[None], torch.tensor([label]))
            loss.backward()
            norms.append(float(torch.cat([one.grad.flatten() for one in head.parameters()]).norm()))
            losses.append(loss.item())
        ratio = np.array(norms) / features.head_gradient_norm(np.array(losses), states)
        if exact:
            np.testing.assert_allclose(ratio, np.sqrt(2), rtol=1e-9)
        assert (ratio <= np.sqrt(2) + 1e-9).all()
        assert (ratio >= np.sqrt(classes / (classes - 1)) - 1e-9).all()


def test_the_course_of_a_training_is_that_known_by_hand():
    gaps = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [2.0, 1.0], [0.0, 1.0]])  # forgotten twice; never
    np.testing.assert_allclose(features.share_wrong(gaps), [0.6, 0.0])
    np.testing.assert_array_equal(features.forgetting_events(gaps), [2, 0])
    losses = np.array([[2.0, 0.7], [1.5, 0.7], [0.5, 0.7]])
    np.testing.assert_allclose(features.mean_loss(losses), [4 / 3, 0.7])
    course = features.of_checkpoints(losses, gaps[:3])
    assert list(course) == ["share_wrong", "forgetting_events", "mean_loss"]
    np.testing.assert_array_equal(course["mean_loss"], features.mean_loss(losses))
    np.testing.assert_array_equal(course["share_wrong"], [2 / 3, 0])
