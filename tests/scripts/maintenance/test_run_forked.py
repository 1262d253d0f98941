"""A run whose jobs are forked makes what any run makes, and ends as Snakemake ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from conftest import PROJECT

from memaudit.common.io import read_json

SCRIPT = PROJECT / "workflow_scripts" / "maintenance" / "run_forked.py"
TABLE = "results/smoke/data/wine/records.parquet"
RECORD = "results/smoke/provenance/data_deduplicate_table/wine.json"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jobs are forked on Linux alone")


def started(folder: Path, target: str) -> subprocess.Popen:
    """A run in a folder, in a process group of its own as a terminal's."""
    params = json.dumps({"arguments": f"{target} --cores 1 --configfile config/smoke.yaml"})
    command = [sys.executable, str(SCRIPT), "--params", params]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=folder, text=True, process_group=0, **streams)


def test_jobs_are_forked(tmp_path):
    run = started(tmp_path, TABLE)
    printed, _ = run.communicate(timeout=600)
    assert run.returncode == 0, printed
    assert len(pd.read_parquet(tmp_path / TABLE))
    assert read_json(tmp_path / RECORD)["forked"]


def test_the_exit_code_is_that_of_snakemake(tmp_path):
    run = started(tmp_path, "results/smoke/no/such/file")
    printed, _ = run.communicate(timeout=600)
    assert run.returncode != 0
    assert "no/such/file" in printed


def test_ctrl_c_ends_run_jobs_and_the_process_that_they_are_forked_from(tmp_path):
    run = started(tmp_path, "lira")
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("results/smoke/provenance/data_deduplicate_table/*.json")):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=120)
    assert run.returncode != 0, printed
    assert "Traceback" not in printed, printed
    assert not list((tmp_path / ".snakemake" / "locks").glob("*"))
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)
