"""Faults of the machine are one line each: what is wrong, where, how to fix it."""

import errno
from types import SimpleNamespace

import duckdb
import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow.faults import explain


class OutOfMemoryError(RuntimeError):
    """Called as torch calls its own."""


def line(error, **resources):
    return explain(error, SimpleNamespace(rule="study_fit", resources=resources))


def test_a_full_gpu_is_not_mended_with_main_memory():
    said = line(OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), mem_mb=4000)
    assert "the GPU's memory is full" in said
    assert "mem_mb" not in said


def test_more_memory_is_twice_what_was_asked_for():
    assert "having requested 4000 MB; give it more with `--set-resources study_fit:mem_mb=8000`" in line(
        MemoryError(), mem_mb=4000
    )


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_takes_nothing_more_is_one_line_with_the_path(code):
    said = line(OSError(code, "reason", "results/a"))
    assert said.startswith("results/a: ")
    assert said.count("; ") >= 1


def test_a_copy_that_fills_the_disk_names_its_target():
    assert line(OSError(errno.ENOSPC, "reason", "weights", None, "results/a")).startswith("results/a: no space left")


def test_a_full_disk_is_known_from_the_engine_of_tables():
    said = line(duckdb.IOException('IO Error: Could not write file "spill": No space left on device'))
    assert said == "study_fit: no space left on device; free some, and run the same command again, it goes on from here"


def test_a_file_is_not_blamed_for_a_lack_of_memory():
    error = AuditError("weights: no checkpoint; give another")
    error.__cause__ = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
    assert line(error).startswith("study_fit: out of memory")
    error.__cause__ = KeyError("config")
    assert line(error) == "weights: no checkpoint; give another"
