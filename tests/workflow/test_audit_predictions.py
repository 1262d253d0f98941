"""An audit of files of predictions from the command to the page: found where there is a leak, and no cell outside."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from prediction_examples import SECRETS, frames, with_ids

from memaudit.common.io import read_json
from workflow.conftest import Checkout

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.long]


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """The folder of an audit of a leaking model with reference models, and what it printed."""
    checkout = Checkout(tmp_path_factory.mktemp("predictions") / "memaudit")
    desk = checkout.folder.parent / "desk"
    desk.mkdir()
    first, second = with_ids(*frames(np.random.default_rng(0), 150, 150, leak=True))
    first.to_csv(desk / "members.csv", index=False)
    second.to_csv(desk / "others.csv", index=False)
    general = pd.concat([first, second])
    general[["p_Zqx-no", "p_Zqx-yes"]] = 0.5
    general.to_csv(desk / "reference.csv", index=False)
    command = [sys.executable, "-m", "memaudit", "audit", "--predictions", "members.csv", "others.csv", "--target", "y"]
    command += ["--reference", "reference.csv", "--id", "id", "--base-rates", "0.5", "--cores", "1", "--into", "into"]
    command += ["--records", "modules"]
    environment = checkout.environment | {"OMP_NUM_THREADS": "1"}

    def again():
        done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    printed = again()
    return desk / "into", printed, again, checkout


def test_a_leaking_model_is_found(audit):
    folder, printed, *_ = audit
    summary = read_json(folder / "summary.json")
    assert summary["verdict"] == "beyond the controls"
    assert [one["name"] for one in summary["controls"]] == ["blind", "stand-in", "references"]
    assert "memaudit: result: AUC " in printed
    assert "better than controls that cannot see memory" in (folder / "report.html").read_text(encoding="utf-8")
    assert len(pd.read_parquet(folder / "risk.parquet")) == 150


def test_no_cell_is_outside_the_copy(audit):
    folder, printed, *_ = audit
    assert not [word for word in SECRETS if word in printed]
    for path in (path for path in folder.rglob("*") if path.is_file() and folder / "table" not in path.parents):
        content = path.read_bytes()
        if path.suffix == ".parquet":
            content += pd.read_parquet(path).to_csv().encode()
        assert not [word for word in SECRETS if word.encode() in content], path
    assert not [path for path in folder.rglob("*") if os.stat(path).st_mode & 0o077]


def test_the_same_command_runs_no_job_again_and_hashes_hold(audit):
    folder, _, again, checkout = audit
    before = (folder / "results/predictions/audit/predictions/risk.parquet").stat().st_mtime_ns
    assert "audit_attack_predictions starts" not in again()
    assert (folder / "results/predictions/audit/predictions/risk.parquet").stat().st_mtime_ns == before
    command = [sys.executable, "-m", "snakemake", "--snakefile", checkout.folder / "Snakefile", "--directory", folder]
    command += ["--configfile", folder / "predictions.yaml", "--cores", "1", "provenance"]
    done = subprocess.run(command, env=checkout.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
