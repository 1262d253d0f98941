"""Refits of AIM and MST in their own environment: the canary is seen with the noise off; a killed job continues."""

import json
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script

from memaudit.common.io import read_table
from memaudit.common.project_paths import SCRIPTS
from memaudit.workflow import synthesizer_environment
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

PARAMS = {"code": "", "method": "mst", "epsilons": [0.01], "delta": 1e-5, "iterations": 20, "rounds": 2, "refits": 3}
needs_dpmm = pytest.mark.skipif(not synthesizer_environment.interpreter().exists(), reason="no .venv-synth")


def refit_job(folder, **params):
    files = {"input": Paths([]), "output": [folder / "refits.parquet"]}
    return SimpleNamespace(**files, params=SimpleNamespace(**(PARAMS | params)), wildcards={"synthesizer": "mst"})


def refits_until_killed(folder, enough):
    """Scores by name of the refits that a job has kept when it is killed, in the environment of the synthesizers."""
    command = [synthesizer_environment.interpreter(), script_of("tabpate_refit_synthesizers")]
    command += ["--params", json.dumps(PARAMS), "--wildcards", '{"synthesizer": "mst"}']
    command += ["--output", folder / "refits.parquet"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(SCRIPTS)})
    while process.poll() is None and len(list(folder.glob(".scratch-*/*.npy"))) < enough:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL, "it was killed at work"
    return {path.stem: np.load(path) for path in folder.glob(".scratch-*/*.npy")}


@needs_dpmm
def test_a_killed_job_goes_on_with_the_refits_that_it_has_kept(tmp_path):
    kept = refits_until_killed(tmp_path, enough=3)
    assert 3 <= len(kept) < 12
    facts = load_script("tabpate_refit_synthesizers").main(refit_job(tmp_path))
    assert [writer["ended"] is None for writer in facts["writers"]] == [True, False]
    table = read_table(tmp_path / "refits.parquet")
    assert len(table) == 12
    for name, scores in kept.items():
        _, noise, repeat, canary = name.split()
        condition = table[(table["noise"] == noise) & (table["member"] == (canary == "with"))]
        assert condition.iloc[int(repeat)][["synthetic_records", "noisy_counts"]].tolist() == scores.tolist()


@needs_dpmm
@pytest.mark.parametrize("method", ["mst", "aim"])
def test_every_refit_is_a_row_and_the_control_tells_the_canary(tmp_path, method):
    job = refit_job(tmp_path, method=method)
    facts = load_script("tabpate_refit_synthesizers").main(job)
    assert facts["seed"] is None
    assert facts["adopted"] is False
    assert set(facts["versions"]) == {"dpmm", "opendp"}
    table = read_table(job.output[0])
    assert len(table) == 12
    control = table[table["noise"] == "off"].groupby("member")
    for score in ("synthetic_records", "noisy_counts"):
        assert control[score].min()[True] > control[score].max()[False]
    assert table[table["noise"] == "stated"]["synthetic_records"].nunique() > 1, "each refit has fresh noise"
