"""Models of an environment of their own are audited by the command and from Python; sidecars name its packages."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_packages
from conftest import PROJECT, with_library

from memaudit.auditing.api import Report
from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.io import read_json

pytestmark = [pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]

FROM_PYTHON = """
import sys
from pathlib import Path
import pandas as pd
from memaudit import audit

rows = pd.read_csv("some.csv")
audit(rows.drop(columns="y"), rows["y"], model=sys.argv[1], quick=True, cores=2, into="audited")
"""
BY_COMMAND = ["-m", "memaudit", "audit", "some.csv", "--target", "y", "--quick", "--cores", "2", "--into", "audited"]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A user's folder with a table of numbers, categories and gaps."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(70, 2)), columns=["a", "b"]).assign(colour=rng.choice(["red", "blue"], 70))
    rows.loc[::9, "b"] = np.nan
    rows.assign(y=np.where(rows["a"] > 0, "yes", "no")).to_csv(tmp_path / "some.csv", index=False)
    # As docs/install.md has it for an installation: beside the table.
    (tmp_path / ".venv-deployed").symlink_to(small_packages.DEPLOYED.parents[1])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(family, *command):
    """The report of an audit by a command, after a look at what it leaves about the package."""
    environment = with_library()
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "first numbers: AUC" in done.stdout
    package, provenance = PACKAGES[family], "audited/results/quick/provenance"
    sidecar = read_json(f"{provenance}/attacks_query_contexts/table/main/0.json")
    there = sidecar["other_environments"][package.environment]
    assert there[package.distribution]["version"] == package.version
    assert {"numpy", "pandas", "torch"} <= there.keys()
    assert there["torch"]["file"].startswith(f"{Path.cwd()}/.venv-deployed/")
    assert there["pandas"]["version"] != sidecar["packages"]["pandas"]["version"]
    assert "other_environments" not in read_json(f"{provenance}/audit_write_page/table.json")
    return Report(Path("audited"))


def provenance_of_the_audit():
    command = ["-m", "snakemake", "--snakefile", PROJECT / "Snakefile", "--directory", "audited"]
    command += ["--configfile", "audited/quick.yaml", "--cores", "2", "--", "provenance"]
    environment = with_library()
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@small_packages.needs("mitra")
def test_mitra_is_audited_by_the_command(desk):
    small_packages.write("mitra", desk / "weights")
    report = audited("mitra", *BY_COMMAND, "--model", "mitra-in-context:weights")
    assert report.summary.models["main"] == "mitra-in-context:weights"
    assert report.summary.headline.auc.estimate > 0
    assert "provenance: models of .venv-deployed: autogluon.tabular 1.6.3; all its" in provenance_of_the_audit()


@small_packages.needs("tabdpt")
def test_tabdpt_is_audited_from_python(desk):
    small_packages.write("tabdpt", desk / "weights")
    (desk / "mine.py").write_text(FROM_PYTHON)
    report = audited("tabdpt", "mine.py", "tabdpt:weights/tabdpt.safetensors")
    assert report.summary.models["main"] == "tabdpt:weights/tabdpt.safetensors"
    assert len(report.risk) > 0
