"""Distances to a known decision boundary, found by labels alone."""

import numpy as np
import pytest

from memaudit.attacks import boundary_distance
from memaudit.attacks.boundary_distance import Lines
from memaudit.common.errors import AuditError

STEPS = 12
TOWN = np.array([False, True])


def lines(x, label, others, own, flips=0.5, flipped=(False, False)):
    shape = np.shape(others)
    return Lines(
        np.array(x), np.array(label), np.array(others), np.array(own), np.full(shape, flips), np.array(flipped)
    )


def test_the_distance_is_the_share_of_the_line_and_negative_where_the_label_is_wrong():
    """The label is whether the first column exceeds 1: from 0 to 4 it changes at a quarter, from 2 to -2 too."""
    ahead = [[[4.0, 0.0], [2.0, 0.0]]]
    made = lines([[0.0, 0.0]], [0], ahead, ahead)
    found = boundary_distance.signed_distance(lambda x: x[:, 0] > 1, made, np.array([0]), STEPS)
    np.testing.assert_allclose(found, [(0.25 + 0.5) / 2], atol=2.0**-STEPS)
    back = lines([[2.0, 0.0]], [0], [[[9.0, 0.0]]], [[[-2.0, 0.0]]])
    wrong = boundary_distance.signed_distance(lambda x: x[:, 0] > 1, back, np.array([1]), STEPS)
    np.testing.assert_allclose(wrong, [-0.25], atol=2.0**-STEPS)


def test_a_category_flips_at_its_place_and_a_missing_cell_too():
    made = lines([[np.nan, 0.0]], [0], [[[3.0, 1.0]]], [[[3.0, 1.0]]], flips=0.3, flipped=TOWN)
    found = boundary_distance.signed_distance(lambda x: x[:, 1] > 0.5, made, np.array([0]), STEPS)
    np.testing.assert_allclose(found, [0.3], atol=2.0**-STEPS)
    before, after = (made.points(np.array([True]), np.array([[place]]))[0, 0] for place in (0.2, 0.4))
    np.testing.assert_array_equal(before, [np.nan, 0])
    np.testing.assert_array_equal(after, [3, 1])


def test_a_label_that_never_changes_is_as_far_as_a_line_goes_and_each_step_is_one_call():
    calls = []

    def constant(x):
        calls.append(len(x))
        return np.zeros(len(x), int)

    ahead = [[[4.0, 0.0], [2.0, 0.0]]]
    found = boundary_distance.signed_distance(constant, lines([[0.0, 0.0]], [0], ahead, ahead), np.array([0]), 5)
    np.testing.assert_allclose(found, 1 - 2.0**-6)
    assert calls == [2] * 5
    assert boundary_distance.queries(2, 5) == 1 + sum(calls)


def test_lines_end_at_records_of_other_classes_each_once_before_any_twice():
    labels = np.array([0, 0, 1, 1, 2])
    others, own = boundary_distance.ends(labels, 0, 5, np.random.default_rng(0))
    assert sorted(others[:3]) == [2, 3, 4]
    assert set(own) == {0, 1}
    assert set(boundary_distance.ends(labels, 7, 5, np.random.default_rng(0))[1]) <= {0, 1, 2, 3, 4}
    with pytest.raises(AuditError, match="all of one class"):
        boundary_distance.ends(np.zeros(3, int), 0, 5, np.random.default_rng(0))
