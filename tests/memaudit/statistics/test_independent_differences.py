"""The interval of a difference covers the true one as often as those of its parts."""

import numpy as np
import pytest

from memaudit.statistics.independent_differences import difference


def test_equal_symmetric_intervals_add_in_quadrature():
    assert difference((1.0, 0.7, 1.3), (2.0, 1.6, 2.4)) == pytest.approx((1.0, 0.5, 1.5))


def test_ends_are_those_that_make_the_difference_smallest_and_largest():
    _, low, high = difference((0.5, 0.5, 0.7), (0.5, 0.5, 0.5))
    assert (low, high) == pytest.approx((-0.2, 0.0))


def test_it_covers_the_difference_of_normal_means():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 4000), rng.normal(1, 2, 4000)
    ends = [
        difference((a, a - 1.96, a + 1.96), (b, b - 3.92, b + 3.92))[1:] for a, b in zip(first, second, strict=True)
    ]
    covered = np.mean([low <= 1 <= high for low, high in ends])
    assert abs(covered - 0.95) < 0.012
