"""Conformal p-values: their definition, their size for any score, and the false discovery rate that they control."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.statistics.conformal_p_values import conformal_p_values, fewest_detections
from memaudit.statistics.permutation_tests import q_value


def test_a_p_value_counts_the_known_non_members_with_such_a_score():
    observed = conformal_p_values(np.array([5.0, 2.0, 1.5, -1.0]), np.array([0.0, 2.0, 1.0, 2.0]))
    assert observed.tolist() == [1 / 5, 3 / 5, 3 / 5, 1.0]


@pytest.mark.parametrize("scores", [np.array([np.nan]), np.zeros(1)])
def test_without_numbers_or_known_non_members_there_is_no_p_value(scores):
    known = np.zeros(3) if np.isnan(scores).any() else np.zeros(0)
    with pytest.raises(AuditError, match="give at least one"):
        conformal_p_values(scores, known)


@pytest.mark.parametrize(
    "draw", [lambda rng, size: rng.normal(size=size), lambda rng, size: rng.integers(3, size=size)]
)
def test_the_size_of_a_test_by_p_values_is_at_most_its_level(draw):
    """Ties included; without ties the size at a multiple of 1 / (1 + n) is the level."""
    rng, level, known = np.random.default_rng(1), 0.1, 19
    below = [(conformal_p_values(draw(rng, 1), draw(rng, known)) <= level)[0] for _ in range(8000)]
    size, error = np.mean(below), 3 * (level * (1 - level) / len(below)) ** 0.5
    assert size <= level + error
    if draw(rng, 1).dtype == float:
        assert size >= level - error


def test_detections_at_a_false_discovery_rate_are_false_no_more_often_and_found():
    """40 of 60 texts are no members: the rate of false detections is at most that share of the nominal rate."""
    rng, rate, false, found = np.random.default_rng(2), 0.2, [], []
    member = np.arange(60) < 20
    for _ in range(2000):
        p_values = conformal_p_values(rng.normal(size=60) + 3 * member, rng.normal(size=100))
        detected = q_value(p_values) <= rate
        false.append((detected & ~member).sum() / max(1, detected.sum()))
        found.append(detected[member].mean())
    assert np.mean(false) <= rate * 40 / 60 + 3 * np.std(false) / len(false) ** 0.5
    assert np.mean(false) > 0.5 * rate * 40 / 60, "the procedure is used to its rate"
    assert np.mean(found) > 0.5


@pytest.mark.parametrize(("texts", "known", "rate"), [(60, 99, 0.1), (10, 9, 0.05), (3, 200, 0.1), (50, 49, 0.1)])
def test_the_fewest_detections_are_those_of_the_procedure(texts, known, rate):
    fewest = fewest_detections(texts, known, rate)

    def detects(count):
        p_values = np.where(np.arange(texts) < count, 1 / (1 + known), 1.0)
        return (q_value(p_values) <= rate + 1e-12).any()

    possible = [count for count in range(1, texts + 1) if detects(count)]
    assert (fewest == possible[0]) if possible else (fewest > texts)
