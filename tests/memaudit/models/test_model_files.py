"""The only file of a weights folder, and reasons of one line."""

from pickle import UnpicklingError

import pytest

from memaudit.common.errors import AuditError
from memaudit.models.model_files import reason, the_file


def test_the_only_file_is_found_beside_hidden_ones(tmp_path):
    (tmp_path / "a.ckpt").touch()
    (tmp_path / ".snakemake_timestamp").touch()
    assert the_file(tmp_path) == tmp_path / "a.ckpt"
    (tmp_path / "b.ckpt").touch()
    with pytest.raises(AuditError, match="2 files, expected one checkpoint"):
        the_file(tmp_path)


def test_a_reason_is_one_short_line():
    assert reason(ValueError("a\nb " * 300)).startswith("a b a b")
    assert len(reason(ValueError("x" * 500))) == 200
    assert reason(KeyError()) == "KeyError"
    assert "weights_only" not in reason(UnpicklingError("set weights_only=False"))
