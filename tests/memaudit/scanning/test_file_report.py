"""What is known of caches, and what the lines say."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from model_files import Runs

from memaudit.common.errors import AuditError
from memaudit.scanning import containers, file_report
from memaudit.scanning.own_table import Column


def report(tmp_path, one, rows=50):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(one))
    table = [Column("a", np.random.default_rng(0).normal(size=rows), True, [])]
    return file_report.examine(containers.read(tmp_path / "a.pkl"), table)


def cache(rows):
    return SimpleNamespace(kv_cache=SimpleNamespace(key=np.zeros((1, rows, 4)), value=np.ones((1, rows, 4))))


@pytest.mark.parametrize("rows", [50, 40])
def test_a_cache_that_nothing_else_speaks_of_is_not_ruled_out(tmp_path, rows):
    found = report(tmp_path, cache(rows))
    assert found.inside
    assert f"every one of {rows} rows, in 2 arrays (1 x {rows} x 4)" in found.cached
    assert "not ruled out" in found.cached


def test_a_cache_beside_rows_of_another_table_is_that_tables(tmp_path):
    model = cache(50)
    model.x = np.random.default_rng(1).normal(size=(50, 3))
    assert not report(tmp_path, model).inside


def test_a_file_that_only_runs_code_is_refused(tmp_path):
    with pytest.raises(AuditError, match=r"calls posix\.system"):
        report(tmp_path, Runs(tmp_path / "ran"))


def test_without_a_table_arrays_are_listed_without_values(tmp_path):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"a": np.full((50, 3), 73105.25), "b": np.arange(3)}))
    found = file_report.examine(containers.read(tmp_path / "a.pkl"), None)
    text = "\n".join(file_report.lines(found, "'a.pkl'", None, 0))
    assert "50 rows, 3 columns (float64)" in text
    assert "73105" not in text
    assert not found.inside
