"""Random streams depend on the master seed and their name alone."""

import numpy as np
import pytest

from memaudit.common import seeds


def test_a_stream_is_the_same_whoever_asks_for_it_and_when():
    first = seeds.generator(7, "lira", "wine", 3).random(5)
    seeds.generator(7, "lira", "wine", 2).random(1000)
    np.testing.assert_array_equal(first, seeds.generator(7, "lira", "wine", 3).random(5))


@pytest.mark.parametrize("other", [(8, "lira", "wine", 3), (7, "lira", "wine", 4), (7, "lirawine", "", 3)])
def test_another_seed_or_name_is_another_stream(other):
    assert seeds.integer(7, "lira", "wine", 3) != seeds.integer(*other)


def test_integers_fit_libraries_that_take_31_bits():
    values = [seeds.integer(0, "x", number) for number in range(1000)]
    assert min(values) >= 0
    assert max(values) < 2**31
    assert len(set(values)) == 1000
