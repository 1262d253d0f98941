"""A shift and a scale are found of all rows and of a random part, and of no other column."""

import numpy as np
import pytest

from memaudit.scanning.affine_maps import affine_map


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
def test_a_map_of_a_random_part_is_found(share, precision):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        column = rng.lognormal(10, 0.5, 600).round(2)
        part = rng.choice(column, int(share * 600), replace=False)
        found = affine_map(((part - part.mean()) / part.std()).astype(precision).astype(float), column)
        np.testing.assert_array_equal(found, part)


def test_another_column_of_the_same_shape_is_not_mapped():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        assert affine_map(rng.normal(size=300), rng.normal(50, 10, 400).round(3)) is None


def test_too_few_or_equal_values_are_not_mapped():
    column = np.random.default_rng(0).normal(size=100)
    assert affine_map(column[:10], column) is None
    assert affine_map(np.ones(100), column) is None
