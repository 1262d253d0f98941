"""Which values and joins are tried, and which answer is right."""

import numpy as np
import pytest

from memaudit.attacks import candidate_records
from memaudit.attacks.candidate_records import JOINED, MOST_VALUES
from memaudit.common.errors import AuditError

NUMBER, CATEGORY = {"name": "c0", "type": "numeric"}, {"name": "c0", "type": "categorical"}


def test_numbers_fall_into_equal_bins_of_which_each_has_a_value():
    known = np.random.default_rng(0).normal(size=1000)
    values = candidate_records.values_of(NUMBER, np.append(known, np.nan))
    of = values.bins_of(known)
    assert np.bincount(of).tolist() == pytest.approx([250] * 4, abs=1)
    assert (values.bins_of(values.value) == values.bin).all()
    assert values.bins_of(np.array([np.nan, -99.0, 99.0])).tolist() == [-1, 0, 3]


@pytest.mark.parametrize("share", [0.3, 0.9])
@pytest.mark.parametrize("extreme", [-10.0, 10.0])
def test_a_number_that_is_often_the_same_keeps_bins_with_values(share, extreme):
    rng = np.random.default_rng(0)
    known = np.where(rng.random(1000) < share, extreme, rng.normal(size=1000))
    values = candidate_records.values_of(NUMBER, known)
    assert values.bin.max() >= 1
    assert set(values.bins_of(known)) == set(values.bin)


def test_few_numbers_and_frequent_categories_are_tried_one_by_one():
    assert candidate_records.values_of(NUMBER, np.array([3.0, 7.0, 3.0])).value.tolist() == [3, 7]
    codes = np.repeat(np.arange(20.0), np.arange(1, 21))
    values = candidate_records.values_of(CATEGORY, codes)
    assert values.value.tolist() == list(range(20 - MOST_VALUES, 20))
    assert values.bins_of(np.array([0.0, 19.0])).tolist() == [-1, MOST_VALUES - 1]
    with pytest.raises(AuditError, match="one value"):
        candidate_records.values_of(CATEGORY, np.zeros(5))


def test_only_the_hidden_column_changes():
    x = np.array([[1.0, 5.0], [2.0, 6.0]])
    tries = candidate_records.with_values(x, 0, candidate_records.values_of(NUMBER, x[:, 0]))
    assert tries.records[..., 0].tolist() == [[1, 2], [1, 2]]
    assert (tries.records[..., 1] == [[5], [6]]).all()
    assert (tries.truth.tolist(), tries.bins) == ([0, 1], 2)


def test_the_right_half_stands_among_different_halves_of_other_persons():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5))
    x[:30, 1] = np.nan
    units = np.repeat(np.arange(30), 2)
    linked = candidate_records.halves(5, rng)
    assert linked.sum() == 2
    tries = candidate_records.joined(x, units, linked, rng)
    assert len(set(tries.truth)) == JOINED
    for target in range(60):
        assert np.array_equal(tries.records[target, tries.truth[target]], x[target].astype(np.float32), equal_nan=True)
        rest = np.delete(tries.records[target], tries.truth[target], 0)[:, linked]
        own = x[target].astype(np.float32)[linked]
        assert not any(np.array_equal(one, own, equal_nan=True) for one in rest)
    assert (candidate_records.joined(np.ones((60, 5)), units, linked, rng).truth == -1).all()
    with pytest.raises(AuditError, match="no two halves"):
        candidate_records.halves(1, rng)
