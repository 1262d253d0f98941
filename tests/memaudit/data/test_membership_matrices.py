"""Membership matrices: balanced, Bernoulli and of fixed size; independent of the shard; drawn by privacy unit."""

import numpy as np
import pandas as pd
import pytest

from memaudit.data import membership_matrices
from memaudit.errors import AuditError


def rng(seed=0):
    return np.random.default_rng(seed)


def test_balanced_puts_each_record_in_exactly_half_of_the_models():
    design = membership_matrices.balanced(16, 500, rng())
    assert design.shape == (16, 500)
    assert (design.sum(0) == 8).all()
    assert design.sum(1).std() > 0, "sizes of the contexts vary: records are drawn, not contexts"


def test_every_prefix_of_blocks_is_balanced_and_part_of_the_larger_design():
    small, large = (
        membership_matrices.balanced(8, 50, rng(), block=4),
        membership_matrices.balanced(16, 50, rng(), block=4),
    )
    np.testing.assert_array_equal(large[:8], small)
    for end in (4, 8, 12, 16):
        assert (large[:end].sum(0) == end // 2).all()


def test_bernoulli_and_fixed_size():
    design = membership_matrices.bernoulli(400, 300, rng(), p=0.25)
    assert design.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(design[:7], membership_matrices.bernoulli(7, 300, rng(), p=0.25))
    design = membership_matrices.fixed_size(100, 60, 20, rng())
    assert (design.sum(1) == 20).all()
    assert 0.2 < design.mean(0).min() < design.mean(0).max() < 0.5
    np.testing.assert_array_equal(design[:7], membership_matrices.fixed_size(7, 60, 20, rng()))


def test_a_design_of_units_expands_to_their_records():
    records = pd.DataFrame({"id": list("abcd"), "group": ["q", "p", "q", "r"]})
    units = membership_matrices.unit_codes(records)
    design = membership_matrices.expand(membership_matrices.balanced(4, 3, rng()), units)
    assert design.shape == (4, 4)
    np.testing.assert_array_equal(design[:, 0], design[:, 2])
    np.testing.assert_array_equal(membership_matrices.unit_codes(records[["id"]]), np.arange(4))
    with pytest.raises(ValueError, match="a membership matrix of 4 units, but records of 3"):
        membership_matrices.expand(design, units)


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        (lambda: membership_matrices.balanced(7, 5, rng()), "an even number of models"),
        (lambda: membership_matrices.balanced(12, 5, rng(), block=8), "in whole blocks, not 12 in 8s"),
        (lambda: membership_matrices.balanced(1, 5, rng()), "at least 2 models"),
        (lambda: membership_matrices.bernoulli(1, 5, rng()), "at least 2 models"),
        (lambda: membership_matrices.bernoulli(4, 5, rng(), p=1.0), "between 0 and 1, not 1.0"),
        (lambda: membership_matrices.fixed_size(4, 5, 6, rng()), "6 of 5 records cannot be drawn"),
        (lambda: membership_matrices.fixed_size(4, 5, 0, rng()), "0 of 5 records cannot be drawn"),
    ],
)
def test_impossible_designs_are_refused(draw, line):
    with pytest.raises(AuditError, match=line):
        draw()
