"""Shadow models of a target: the arrangement in pairs gives the fits of the general way, and arrays come back."""

import numpy as np
import pytest

from memaudit.attacks.gaussian import mean_without_target, moments_without_target
from memaudit.attacks.shadow_sides import arrange, is_balanced, join_sides, pair_places, split_sides


@pytest.fixture
def grid():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 7)), rng.random((12, 7)).argsort(0) < 6


def test_splitting_and_joining_are_inverse(grid):
    values, member = grid
    places = pair_places(member)
    split = split_sides(values, places)
    for record in range(7):
        np.testing.assert_array_equal(split[0, :, record], values[member[:, record], record])
        np.testing.assert_array_equal(split[1, :, record], values[~member[:, record], record])
    np.testing.assert_array_equal(join_sides(split, places), values)


def test_fits_in_pairs_are_those_of_the_general_way(grid):
    general, paired = arrange(*grid), arrange(*grid, in_pairs=True)
    for one, other in zip(general.sides, paired.sides, strict=True):
        expected, found = moments_without_target(one), moments_without_target(other)
        assert (expected.count == found.count).all()
        np.testing.assert_allclose(paired.joined(found.mean), expected.mean, atol=1e-12)
        np.testing.assert_allclose(paired.joined(found.squares), expected.squares, atol=1e-12)
        np.testing.assert_allclose(paired.joined(mean_without_target(other)), expected.mean, atol=1e-12)


@pytest.mark.parametrize("in_pairs", [False, True])
def test_numbers_of_folds_reach_their_models(grid, in_pairs):
    values, member = grid
    block = arrange(values, member, in_pairs=in_pairs)
    of_folds = np.arange(28.0).reshape(4, 7)
    np.testing.assert_array_equal(block.joined(block.of_folds(of_folds)), of_folds.repeat(3, axis=0))
    np.testing.assert_array_equal(block.joined(block.split(values)), values)


@pytest.mark.parametrize("leave", ["self", "pair"])
def test_fits_are_those_of_the_models_that_remain(leave):
    """Against sets of models, where records are in 4 to 8 of 12."""
    rng = np.random.default_rng(0)
    values, member = rng.normal(size=(12, 5)), rng.random((12, 5)).argsort(0) < np.arange(4, 9)
    assert not is_balanced(member)
    for number, side in enumerate(arrange(values, member, leave).sides):
        found = moments_without_target(side)
        for target, record in np.ndindex(*values.shape):
            both = [np.flatnonzero(member[:, record] == inside) for inside in (True, False)]
            others = both[number]
            if leave == "pair":
                pairs = min(map(len, both))
                own = both[int(not member[target, record])]
                others = np.delete(others[:pairs], int(np.flatnonzero(own == target)[0]) % pairs)
            kept = values[others[others != target], record]
            count, mean, squares = (np.broadcast_to(numbers, values.shape)[target, record] for numbers in found)
            assert count == len(kept)
            assert mean == pytest.approx(kept.mean(), abs=1e-12)
            assert squares == pytest.approx(((kept - kept.mean()) ** 2).sum(), abs=1e-12)
