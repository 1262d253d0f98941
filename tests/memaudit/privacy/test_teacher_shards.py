"""Teachers' shards: the keyed hash of each unit, and nothing else, so that one unit changes one teacher."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.teacher_shards import Private, shards_of

KEY = b"a key for tests"
UNITS = [f"{number:032x}" for number in range(60)]


@pytest.mark.parametrize("teachers", [1, 7, 50, 2**62])
def test_a_shard_is_hmac_sha256_of_the_unit(teachers):
    # RFC 4231, test case 1.
    digest = 0xB0344C61D8DB38535CA8AFCEAF0BF12B881DC200C9833DA726E9376C2E32CFF7
    assert shards_of(["Hi There"], b"\x0b" * 20, teachers).tolist() == [digest % teachers]


def test_removing_one_record_changes_at_most_one_teacher():
    shards = shards_of(UNITS, KEY, 10)
    whole = [{UNITS[i] for i in np.flatnonzero(shards == teacher)} for teacher in range(10)]
    for removed in range(len(UNITS)):
        rest = UNITS[:removed] + UNITS[removed + 1 :]
        shards = shards_of(rest, KEY, 10)
        parts = [{rest[i] for i in np.flatnonzero(shards == teacher)} for teacher in range(10)]
        changed = [one ^ other for one, other in zip(whole, parts, strict=True) if one != other]
        assert changed == [{UNITS[removed]}]


def test_records_of_one_unit_share_a_teacher_wherever_they_stand():
    people = [UNITS[i % 9] for i in range(45)]
    shards = shards_of(people, KEY, 5)
    assert all(len(set(shards[np.array(people) == unit])) == 1 for unit in people)
    order = np.random.default_rng(0).permutation(45)
    np.testing.assert_array_equal(shards_of([people[i] for i in order], KEY, 5), shards[order])


def test_another_key_parts_the_records_anew():
    same = np.mean(shards_of(UNITS, KEY, 10) == shards_of(UNITS, b"another key", 10))
    assert same < 0.3


def test_units_spread_evenly_but_shards_are_not_made_equal():
    counts = np.bincount(shards_of([f"unit {number}" for number in range(10_000)], KEY, 50), minlength=50)
    # Chi-square with 49 degrees of freedom: 0.001 and 0.999 quantiles.
    assert 23 < ((counts - 200) ** 2 / 200).sum() < 86
    assert shards_of([], KEY, 3).tolist() == []


def test_contexts_of_the_teachers_are_disjoint_and_together_all_records():
    x, y = np.arange(60, dtype=np.float32)[:, None], np.arange(60)
    contexts = Private(x, y, UNITS, KEY, None).teacher_contexts(7)
    assert [len(rows) for rows, _ in contexts] == np.bincount(shards_of(UNITS, KEY, 7), minlength=7).tolist()
    assert all((rows[:, 0] == labels).all() for rows, labels in contexts)
    assert sorted(np.concatenate([labels for _, labels in contexts])) == list(range(60))


def test_no_key_or_no_teacher_is_refused():
    with pytest.raises(AuditError, match="key of the shards is empty"):
        shards_of(UNITS, b"", 10)
    with pytest.raises(AuditError, match="among 0 PATE teachers"):
        shards_of(UNITS, KEY, 0)
