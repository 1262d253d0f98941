"""Hidden states in chunks: the same from an array and a list, centred, and refused where they cannot be used."""

import numpy as np
import pytest

from memaudit.attacks import hidden_states
from memaudit.attacks.hidden_states import chunks, median, reader
from memaudit.common.errors import AuditError

STATES = np.arange(60, dtype=np.float32).reshape(20, 3)


def test_chunks_follow_each_other_and_have_a_bounded_size(monkeypatch):
    monkeypatch.setattr(hidden_states, "CHUNK", 12)
    parts = list(chunks(STATES))
    assert [len(part) for part in parts] == [4] * 5
    np.testing.assert_array_equal(np.concatenate(parts), STATES)
    assert parts[0].dtype == np.float64
    assert next(chunks(STATES, exact=False)).dtype == np.float32
    listed = list(chunks([STATES[:7], STATES[7:]]))
    np.testing.assert_array_equal(np.concatenate(listed), STATES)


def test_the_median_withstands_outliers():
    states = np.zeros((101, 2))
    states[:30] = 1e12
    assert median(states).tolist() == [0.0, 0.0]
    assert median([states[40:], states[:40]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("large", [False, True])
def test_a_reader_gives_centred_states_as_often_as_needed(monkeypatch, large):
    monkeypatch.setattr(hidden_states, "CHUNK", 9 if large else 1000)
    read = reader(STATES, STATES[0], np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate(list(read())), STATES - STATES[0])


@pytest.mark.parametrize(
    ("states", "line"),
    [
        (iter([STATES]), "can be read only once"),
        (STATES.astype(str), "give numbers"),
        (STATES[:, 0], r"of shape \(20,\)"),
        (np.where(STATES == 31, np.nan, STATES), "record 10 holds NaN"),
        (STATES * 1e15, "record 0 holds NaN, infinity or a number beyond"),
    ],
)
def test_unusable_states_are_one_clear_line(states, line):
    with pytest.raises(AuditError, match=line):
        list(chunks(states))


def test_no_states_and_another_number_of_features_are_errors():
    with pytest.raises(AuditError, match="there are none"):
        median([])
    with pytest.raises(AuditError, match="2 features after 3; give equally many of each"):
        list(reader([STATES, STATES[:, :2]], np.zeros(3), np.float32)())
