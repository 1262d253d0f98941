"""Distances between records: standardisation, neighbours by class and unit, blocks."""

import numpy as np

from memaudit.statistics import rank_correlation, record_distances


def test_columns_are_standardised_on_the_reference_and_categories_lie_one_apart():
    x = np.array([[0.0, 0], [10, 1], [20, 2], [np.nan, 0], [500, np.nan]])
    reference = np.array([True, False, True, True, False])
    space = record_distances.standardised(x, np.array([False, True]), reference)
    np.testing.assert_allclose(space[:, 0], [-1, 0, 1, 0, 49])  # mean 10, deviation 10 of the known reference values
    distance = np.linalg.norm(space[:3, None, 1:] - space[None, :3, 1:], axis=-1)
    np.testing.assert_allclose(distance, 1 - np.eye(3))
    # An unknown category lies at the mean of the reference: codes 0, 2, 0.
    np.testing.assert_allclose(space[4, 1:], 0)
    np.testing.assert_allclose(space[0, 1:] * np.sqrt(2), [1 / 3, 0, -1 / 3])


def test_neighbours_are_the_nearest_of_other_units():
    space = np.array([[0.0], [0.1], [1.0], [3.0], [7.0]])
    labels, units = np.array([0, 1, 0, 0, 1]), np.array([0, 0, 1, 2, 3])
    near = record_distances.neighbour_distances(space, labels, units, 2)
    np.testing.assert_allclose(near["all"], [2, 1.9, 0.95, 2.45, 5])
    np.testing.assert_allclose(near["own class"], [2, 6.9, 1.5, 2.5, 6.9])
    # The first record's unit holds the other class at 0.1: it does not count.
    np.testing.assert_allclose(near["other classes"], [7, 1.9, 3.45, 3.45, 5])


def test_neighbours_do_not_depend_on_the_block(monkeypatch):
    rng = np.random.default_rng(4)
    space, labels = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    whole = record_distances.neighbour_distances(space, labels, np.arange(30), 3)
    monkeypatch.setattr(record_distances, "BLOCK", 7)
    parted = record_distances.neighbour_distances(space, labels, np.arange(30), 3)
    for name in whole:
        np.testing.assert_allclose(parted[name], whole[name])


def test_a_class_of_one_record_has_no_neighbour_of_its_own():
    near = record_distances.neighbour_distances(np.array([[0.0], [1], [2]]), np.array([0, 0, 1]), np.arange(3), 5)
    np.testing.assert_allclose(near["own class"], [1, 1, np.nan])
    found = rank_correlation.rank_correlation(
        np.array([1.0, 2, 3]), near["own class"], np.random.default_rng(0), replicates=20
    )
    assert found.n == 2
