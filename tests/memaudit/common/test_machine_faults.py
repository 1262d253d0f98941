"""Faults of the disk and of memory are known whatever library meets them."""

import errno

import duckdb
import pytest

from memaudit.common.machine_faults import disk_fault, is_out_of_memory


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (OSError(errno.ENOSPC, "", "results/a"), "results/a"),
        (OSError(errno.ENOSPC, "", "weights", None, "results/a"), "results/a"),  # a copy: its target
        (OSError(errno.ENOSPC, ""), "a_rule"),
        (duckdb.IOException('IO Error: Could not write file "x": No space left on device'), "a_rule"),
    ],
)
def test_a_full_disk_is_one_line_that_names_the_place(error, place):
    again = "free some, and run the same command again, it goes on from here"
    assert disk_fault(error, "a_rule") == f"{place}: no space left on device; {again}"


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "", "a"), ValueError("No space"), OSError("no number")])
def test_another_error_is_no_fault_of_the_disk(error):
    assert disk_fault(error, "a_rule") is None


def test_a_lack_of_memory_is_known():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(OSError(errno.ENOMEM, ""))
    assert is_out_of_memory(duckdb.OutOfMemoryException("Out of Memory Error"))
    assert not is_out_of_memory(ValueError("memory"))
