"""Contributions on the lattice: integers, towards zero, and a unit's records share its weight."""

import numpy as np

from memaudit.privacy.unit_lattice import STEPS, lattice_contributions


def test_records_of_a_unit_share_its_weight():
    vectors = np.array([[1.0, -0.5], [1.0, 0.25], [1.0, 1.0]])
    steps = lattice_contributions(vectors, ["a", "b", "a"])
    assert steps.dtype == np.int64
    assert (steps / STEPS).tolist() == [[0.5, -0.25], [1.0, 0.25], [0.5, 0.5]]


def test_rounding_is_towards_zero_so_that_no_norm_grows():
    vectors = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    steps = lattice_contributions(vectors, [str(number) for number in range(500)])
    assert (np.abs(steps) <= np.abs(vectors) * STEPS).all()
    assert (np.abs(steps) > np.abs(vectors) * STEPS - 1).all()


def test_a_unit_of_any_number_of_records_adds_at_most_its_weight():
    for size in (1, 3, 7, 1000):
        total = lattice_contributions(np.ones((size, 1)), ["a person"] * size).sum()
        assert STEPS - size < total <= STEPS


def test_no_records_contribute_nothing():
    assert lattice_contributions(np.empty((0, 2)), []).shape == (0, 2)
