"""Fingerprints: one table in any order, no row without the key, a tenth of the rows."""

import stat

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.table_fingerprint import (
    fingerprint,
    identity,
    is_same,
    new_key,
    read_fingerprint,
    read_key,
    write_fingerprint,
)

ROWS = ["3:age|2:41", "3:age|2:57", "3:age|2:57", "3:age|2:23"]
KEY = bytes(range(32))


def test_identity_is_that_of_the_rows_in_any_order():
    assert identity(ROWS) == identity(ROWS[::-1]) == identity(iter(sorted(ROWS)))
    others = [ROWS[:-1], [*ROWS, ROWS[0]], [*ROWS[:-1], "3:age|2:24"], [ROWS[0] + ROWS[1], *ROWS[2:]]]
    assert len({identity(ROWS), *map(identity, others)}) == 5


def test_a_fingerprint_has_the_different_rows_in_any_order():
    one = fingerprint(ROWS, KEY)
    assert len(one) == 3
    assert np.array_equal(one, fingerprint(ROWS[::-1], KEY))


def test_without_the_key_a_guessed_row_cannot_be_tested():
    assert not np.intersect1d(fingerprint(ROWS, KEY), fingerprint(ROWS, bytes(32))).size


def test_a_tenth_of_the_smaller_table_decides():
    many = fingerprint(map(str, range(10_000)), KEY)
    assert is_same(fingerprint(map(str, range(9_990, 10_090)), KEY), many)
    assert not is_same(fingerprint(map(str, range(9_991, 10_091)), KEY), many)
    assert not is_same(fingerprint([], KEY), many)


def test_a_file_gives_back_what_was_written_to_its_owner_alone(tmp_path):
    path = tmp_path / "table.npy"
    write_fingerprint(path, fingerprint(ROWS, KEY))
    assert np.array_equal(read_fingerprint(path), fingerprint(ROWS, KEY))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"no array"])
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / "table.npy").write_bytes(content)
    with pytest.raises(AuditError, match=r"table\.npy: cannot be read"):
        read_fingerprint(tmp_path / "table.npy")


def test_another_array_is_no_fingerprint(tmp_path):
    np.save(tmp_path / "table.npy", np.zeros(3))
    with pytest.raises(AuditError, match="is no fingerprint of a table"):
        read_fingerprint(tmp_path / "table.npy")


def test_a_key_is_random_private_and_required(tmp_path):
    keys = {new_key(tmp_path / name) for name in ("a", "b")}
    assert len(keys) == 2
    assert read_key(tmp_path / "a") in keys
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    (tmp_path / "b").write_bytes(b"short")
    for name, fault in (("b", "damaged"), ("c", "missing")):
        with pytest.raises(AuditError, match=f"{name}: {fault}"):
            read_key(tmp_path / name)
