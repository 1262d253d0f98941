"""What the benchmarks share: their card, CPU time, memory of a process of its own, and the shipped model."""

import os
import re
import time
from functools import partial
from operator import mul

import numpy as np
import pytest

from memaudit.common.io import MEBIBYTE, read_json
from memaudit.workflow import bench_card


def test_the_card_holds_the_measurement_the_machine_and_versions(tmp_path):
    bench_card.write_card({"ratio": {"a": 2.0}}, tmp_path / "card.json", ("numpy",))
    card = read_json(tmp_path / "card.json")
    assert card["ratio"] == {"a": 2.0}
    assert card["versions"]["numpy"] == np.__version__
    assert card["machine"]["cores"] == os.cpu_count()


def test_cpu_seconds_do_not_count_waiting():
    result, seconds = bench_card.cpu_seconds(lambda: time.sleep(0.2) or 7)
    assert result == 7
    assert seconds < 0.1


def test_the_median_is_that_of_so_many_runs():
    calls = []
    assert bench_card.median_cpu_seconds(lambda: calls.append(1), 3) >= 0
    assert len(calls) == 3


def test_slopes_are_the_powers_by_which_the_upper_half_of_the_points_grows():
    sizes = [1, 10, 100, 1000, 10000]
    measured = [(9.0, 9.0), (9.0, 9.0), *((3.0 * size, 5.0 * size**2) for size in sizes[2:])]
    slopes = bench_card.growth_slopes(sizes, measured)
    assert slopes == {"seconds": pytest.approx(1), "peak_mib": pytest.approx(2)}


def work_after(preparation: int, size: int):
    """Work that fills `size` bytes, prepared with a peak of so many bytes."""
    len(b"x" * preparation)
    return partial(mul, b"x", size)


@pytest.mark.parametrize("preparation", [0, 256 * MEBIBYTE])
def test_the_cost_of_work_leaves_out_its_preparation(preparation):
    # From a process as small as a benchmark's: a heap with free memory would serve the work.
    measured = bench_card.own_cost, work_after, 1, preparation, 64 * MEBIBYTE
    seconds, peak = bench_card.in_own_process(*measured)
    assert seconds >= 0
    assert 50 < peak < 100


def test_a_process_of_its_own_has_its_own_id_and_peak():
    assert bench_card.in_own_process(os.getpid) != os.getpid()
    assert 0 < bench_card.in_own_process(bench_card.peak_mib) < 4096


def test_nothing_but_benchmarks_uses_it(project):
    """A benchmark's plumbing must not enter the digest of a result."""
    scripts = project / "workflow_scripts"
    users = {
        path for path in scripts.rglob("*.py") if re.search(r"import.*bench_card|bench_card import", path.read_text())
    }
    assert {path.parent.name for path in users} == {"bench"}
