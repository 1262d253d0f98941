"""A planted subpopulation is found in one half and confirmed in the other; without one, nothing is."""

import numpy as np
import pytest

from memaudit.data import membership_matrices
from memaudit.statistics.group_comparison import FEWEST
from memaudit.statistics.subpopulation_search import halves, search, worst_subpopulation

COLUMNS, LEVELS = 4, 3


def table(rng, records=300, planted=0.0, rows=1, contexts=32):
    """Scores whose shift is larger where column 0 is 1 and column 1 is 2, and the masks of all groups."""
    units = np.arange(records) // rows
    values = rng.integers(0, LEVELS, (records // rows, COLUMNS))[units]
    member = membership_matrices.balanced(contexts, records // rows, rng)[:, units]
    shift = 0.4 + 0.5 * rng.standard_normal(records // rows)[units]
    shift = shift + planted * (values[:, 0] == 1) * (values[:, 1] == 2)
    scores = rng.standard_normal(member.shape) + shift * member
    masks = {(f"c{c}", v): values[:, c] == v for c in range(COLUMNS) for v in range(LEVELS)}
    return scores, member, masks, units


def worst(rng, **how):
    scores, member, masks, units = table(rng, **how)
    return worst_subpopulation(scores, member, masks, units, rng=rng, replicates=60, permutations=99)


def test_a_planted_subpopulation_is_found_and_confirmed():
    found = worst(np.random.default_rng(0), planted=2.0)
    assert set(found.names) == {("c0", 1), ("c1", 2)}
    assert found.excess.detected
    assert found.excess.low > 0
    assert found.auc.estimate > 0.7
    assert FEWEST <= found.confirmed < found.records
    assert found.searched > COLUMNS * LEVELS


def test_a_single_column_is_named_where_it_alone_leaks():
    scores, member, masks, units = table(np.random.default_rng(1))
    scores = scores + 2.0 * member * masks["c2", 0]
    options = {"rng": np.random.default_rng(2), "replicates": 60, "permutations": 99}
    found = worst_subpopulation(scores, member, masks, units, **options)
    assert ("c2", 0) in found.names
    assert found.excess.detected


def test_without_a_subpopulation_few_are_confirmed():
    confirmed = [worst(np.random.default_rng([3, seed])).excess.detected for seed in range(60)]
    assert sum(confirmed) <= 8  # of 60 at level .05: more in 1 of 200 cases


def test_the_search_does_not_see_the_half_that_confirms():
    *_, masks, units = table(np.random.default_rng(4), planted=1.0)
    first = halves(units, np.random.default_rng(5))
    values = np.random.default_rng(6).random(len(units))
    changed = np.where(first, values, 1 - values)
    assert search(values, masks, first)[0].names == search(changed, masks, first)[0].names


def test_rows_of_a_person_are_in_one_half():
    units = np.repeat(np.arange(40), 3)
    first = halves(units, np.random.default_rng(0))
    assert (first.reshape(40, 3) == first.reshape(40, 3)[:, :1]).all()
    assert first.sum() == 60


@pytest.mark.parametrize("masks", [{}, {("c", 1): np.arange(60) < 5}, {("c", 1): np.ones(60, bool)}])
def test_candidates_that_are_too_small_are_left_out(masks):
    scores, member, _, units = table(np.random.default_rng(0), records=60)
    options = {"rng": np.random.default_rng(0), "replicates": 60, "permutations": 19}
    assert worst_subpopulation(scores, member, masks, units, **options) is None
