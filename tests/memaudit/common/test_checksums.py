"""Hashes of files and folders."""

import hashlib

import numpy as np
import pytest

from memaudit.common.checksums import TIMESTAMP, array_hash, check_sum, files_of, sha256
from memaudit.common.errors import AuditError


def test_a_files_hash_is_that_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"x" * 100_000).hexdigest()


def test_a_folders_hash_follows_names_and_contents_and_not_snakemakes_mark(tmp_path):
    (tmp_path / "f" / "deep").mkdir(parents=True)
    (tmp_path / "f" / "deep" / "a").write_text("x")
    before = sha256(tmp_path / "f")
    (tmp_path / "f" / TIMESTAMP).touch()
    assert sha256(tmp_path / "f") == before
    assert files_of(tmp_path / "f") == [tmp_path / "f/deep/a"]
    (tmp_path / "f" / "deep" / "a").rename(tmp_path / "f" / "deep" / "b")
    assert sha256(tmp_path / "f") != before


def test_an_unexpected_hash_is_one_line_with_both(tmp_path):
    (tmp_path / "a").write_text("x")
    check_sum(tmp_path / "a", None, "models/x")
    check_sum(tmp_path / "a", sha256(tmp_path / "a"), "models/x")
    with pytest.raises(AuditError, match=r"^models/x: sha256 of .*a is 2d711\w+, the config says 00; fetch"):
        check_sum(tmp_path / "a", "00", "models/x")


def test_arrays_are_equal_by_shape_type_and_values():
    numbers = np.arange(6.0).reshape(2, 3)
    assert array_hash(numbers) == array_hash(numbers.copy()) == array_hash(np.asfortranarray(numbers))
    others = (numbers.ravel(), numbers.astype(np.float32), numbers + 1, numbers.T)
    assert array_hash(numbers) not in {array_hash(other) for other in others}
    assert array_hash(numbers, numbers) != array_hash(numbers)
