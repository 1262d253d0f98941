"""The page of benchmarks and its figure follow their JSON; the benchmark of a GPU runs where there is none, if told."""

import copy
import json
import subprocess
import sys

import numpy as np
import pytest

from memaudit.checksums import sha256
from memaudit.io import read_json
from memaudit.report import docs_pages

BENCHES = {"models": 1, "rows": 40, "features": 4, "device": "cpu", "small": True, "compiled": [False]}


@pytest.fixture
def benches(project):
    return {path.stem: read_json(path) for path in (project / "results/bench").glob("*.json")}


def bench_gpu(project, output, params):
    command = [sys.executable, "workflow_scripts/bench/gpu_grid.py", "--output", str(output)]
    command += ["--params", json.dumps(params)]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_the_figure_of_scaling_shows_the_present_numbers(project):
    """Files may differ between computers in their last digit: the digest of the numbers stands in the figure."""
    expected = sha256(project / "results/bench/scale_engine.json")
    assert expected in docs_pages.FIGURE.read_text(encoding="utf-8"), "run `make docs`"


def test_the_figure_is_the_same_when_it_is_drawn_again(tmp_path):
    files = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for file in files:
        docs_pages.draw(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_slopes_are_those_of_the_points(benches):
    for one in benches["scale_engine"]["axes"]:
        upper = slice(-(len(one["sizes"]) // 2 + 1), None)
        for name, slope in one["slopes"].items():
            fitted = np.polyfit(np.log(one["sizes"][upper]), np.log(one[name][upper]), 1)[0]
            assert slope == pytest.approx(fitted)
        assert one["sizes"][-1] >= 99 * one["sizes"][0]


def test_another_ratio_gives_another_page(benches):
    other = copy.deepcopy(benches)
    other["probe_contexts"]["ratio"]["package_over_ours_distinct"] = 98.7
    assert "| at least 15 | 98.7 |" in docs_pages.performance(other)


def test_the_page_says_whether_a_gpu_was_measured(benches):
    benches.pop("gpu_grid", None)
    assert "No GPU has been measured yet" in docs_pages.performance(benches)
    way = {"family": "tabicl", "dtype": "bf16", "compiled": True, "rows_per_second": 12345.6, "tflops": 101.2}
    way |= {"share_of_peak": 0.102, "peak_mib": 4321.0, "bound_by": "attention", "hours_at_target": 3.25}
    found = {"device": "Some GPU", "torch": "2", "rows": 10000, "features": 14, "target_models": 4096, "models": 4}
    page = docs_pages.performance(benches | {"gpu_grid": found | {"ways": [way]}})
    assert "| tabicl | bf16 | yes | 12,346 | 101 | 10% | 4,321 | attention | 3.25 |" in page


def test_the_benchmark_of_a_gpu_runs_at_a_small_size_on_a_cpu(project, tmp_path):
    done = bench_gpu(project, tmp_path / "gpu.json", BENCHES | {"peak_tflops": {"fp32": 0.1}})
    assert done.returncode == 0, done.stderr
    ways = read_json(tmp_path / "gpu.json")["ways"]
    assert {(way["family"], way["dtype"]) for way in ways} == {
        (family, dtype) for family in ("tabicl", "tabpfn") for dtype in ("fp32", "bf16")
    }
    for way in ways:
        assert way["rows_per_second"] == pytest.approx(40 / way["seconds_per_model"])
        assert sum(way["time"].values()) == pytest.approx(1)
        assert (way["share_of_peak"] is not None) == (way["dtype"] == "fp32")


def test_without_a_gpu_its_benchmark_ends_in_one_line(project, tmp_path):
    done = bench_gpu(project, tmp_path / "gpu.json", {})
    if done.returncode == 0:
        pytest.skip("there is a GPU here")
    assert done.stderr.strip().splitlines()[-1].startswith("memaudit: bench_gpu_grid: there is no GPU here")
    assert not (tmp_path / "gpu.json").exists()
