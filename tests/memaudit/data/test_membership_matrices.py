"""Membership matrices: balanced, Bernoulli and of fixed size; independent of the shard; drawn by privacy unit."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data import membership_matrices


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


def test_redraws_keep_what_their_scheme_keeps_and_are_uniform():
    """One unit in two of four models: six columns, each equally likely; records of a unit stay together."""
    rng = np.random.default_rng(0)
    member = membership_matrices.expand(membership_matrices.balanced(16, 3, rng, block=4), np.array([0, 1, 1, 2]))
    units = np.array([5, 2, 2, 9])
    redrawn = [membership_matrices.Scheme(block=4).redraw(member, units, rng) for _ in range(600)]
    assert all((one.reshape(4, 4, 4).sum(1) == 2).all() and (one[:, 1] == one[:, 2]).all() for one in redrawn)
    columns = np.unique([one[:4, 0] for one in redrawn], axis=0, return_counts=True)[1]
    assert len(columns) == 6
    assert columns.min() > 65
    apart = np.array([one[:, 0] @ (2.0 * one[:, 3] - 1) for one in redrawn])
    assert abs(apart.mean()) < 0.3
    rows = membership_matrices.Scheme("rows").redraw(membership_matrices.fixed_size(6, 9, 3, rng), None, rng)
    assert (rows.sum(1) == 3).all()
    with pytest.raises(AuditError, match="16 models cannot be redrawn in blocks of 5"):
        membership_matrices.Scheme(block=5).redraw(member, units, rng)


def test_a_scheme_is_read_from_the_attributes_of_a_score_matrix():
    read = membership_matrices.Scheme.of
    assert read({}) == membership_matrices.COLUMNS
    assert read({"draw": "balanced", "block": 8}) == ("columns", 8)
    assert read({"draw": "bernoulli", "block": 0}) == ("columns", None)
    assert read({"draw": "fixed_size"}) == ("rows", None)


def test_every_unit_gets_the_column_of_another_one_and_no_two_exchange_theirs():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(10), 2)
    member = membership_matrices.expand(np.eye(10, dtype=bool), units)
    exchanged = membership_matrices.of_next_unit(member, units, rng)
    following = exchanged[:, ::2].argmax(0)
    assert (exchanged[:, ::2] == exchanged[:, 1::2]).all()
    assert sorted(following) == list(range(10))
    assert (following != np.arange(10)).all()
    assert (following[following] != np.arange(10)).all()
    with pytest.raises(AuditError, match="2 units cannot be exchanged"):
        membership_matrices.of_next_unit(member[:, :4], units[:4], rng)
