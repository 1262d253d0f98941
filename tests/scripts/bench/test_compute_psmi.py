"""The benchmark of PSMI: the same values, and a run by hand."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import load_script

from memaudit.attacks import psmi
from memaudit.common.io import read_json
from memaudit.common.seeds import generator


def test_the_benchmarks_arrays_find_the_same_psmi():
    states, labels = load_script("bench_compute_psmi").drawn(60, 5, 3)
    states = states.astype(np.float64)
    thetas = psmi.draw(generator(1), 20, 5).astype(np.float64)
    expected = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    np.testing.assert_allclose(
        load_script("bench_compute_psmi").of_arrays(states, labels, thetas), expected, atol=1e-12
    )


def test_the_benchmark_runs_by_hand(tmp_path, project):
    params = {"records": 60, "features": 8, "directions": 20, "classes": 3, "runs": 1, "scratch": str(tmp_path)}
    params["package"] = None
    params["large"] = {"records": 1500, "features": 8, "directions": 4}
    command = [sys.executable, "workflow_scripts/bench/compute_psmi.py", "--output", str(tmp_path / "psmi.json")]
    done = subprocess.run(
        [*command, "--params", json.dumps(params)], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = read_json(tmp_path / "psmi.json")
    assert 0 < found["largest_difference"] < 1e-6  # ours projects float32 states in float32
    assert found["ratio"] == {
        "arrays_over_ours_psmi": pytest.approx(found["arrays"]["cpu_seconds"] / found["ours"]["cpu_seconds"])
    }
    assert found["large"]["file_mib"] * 2**20 == pytest.approx(1500 * 8 * 4, abs=200)
    assert list(tmp_path.iterdir()) == [tmp_path / "psmi.json"]
