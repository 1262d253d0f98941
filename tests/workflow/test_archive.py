"""`snakemake archive` on a real run: one file that verifies where the run is not."""

import json
import shutil
import subprocess
import sys
import tarfile

import pytest
import yaml
from conftest import PROJECT

from workflow.conftest import SNAKEMAKE

pytestmark = pytest.mark.xdist_group("smoke")
VALIDATOR = PROJECT / ".venv-rocrate/bin/python"


@pytest.fixture(scope="module")
def archived(smoke, tmp_path_factory):
    """The archive of the smoke run, taken elsewhere, and what making it printed."""
    printed = smoke.snakemake("archive")
    return (smoke.results / "smoke.tar.gz").rename(tmp_path_factory.mktemp("archived") / "smoke.tar.gz"), printed


def verify(smoke, path, folder):
    command = [
        sys.executable,
        str(smoke.folder / "workflow_scripts/provenance/verify_archive.py"),
        "--input",
        str(path),
    ]
    return subprocess.run(command, cwd=folder, env=smoke.environment, capture_output=True, text=True, check=False)


def test_an_archived_run_verifies_elsewhere_and_a_cut_one_does_not(smoke, archived, tmp_path):
    made, printed = archived
    archive = shutil.copy(made, tmp_path / "smoke.tar.gz")
    assert "it holds the records of every table" in printed
    done = verify(smoke, archive, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "results and the" in done.stderr
    with tarfile.open(archive) as content:
        names = {name.removeprefix("smoke/") for name in content.getnames()}
    results = {str(path.relative_to(smoke.folder)) for path in (smoke.results / "figures").iterdir()}
    assert results | {"config/claims.yaml", "resources/tabicl-small/tabicl-small.ckpt"} <= names
    assert "results/smoke/data/id.key" not in names
    archive.write_bytes(archive.read_bytes()[:-1000])
    assert "smoke.tar.gz: cannot be read to its end" in verify(smoke, archive, tmp_path).stderr


@pytest.mark.skipif(not VALIDATOR.exists(), reason="no .venv-rocrate with rocrate and roc-validator: .ci/run makes it")
def test_an_archived_run_is_a_workflow_run_crate(smoke, archived, tmp_path):
    with tarfile.open(archived[0]) as packed:
        packed.extractall(tmp_path, filter="data")
    command = [VALIDATOR, PROJECT / "tests/validate_crate.py", tmp_path / "smoke"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["issues"] == []
    assert read["checks"] > 50
    assert (read["workflow"], read["language"], read["instrument"]) == ("Snakefile", "Snakemake", "Snakefile")
    assert {"results/smoke/config.yaml", "config/claims.yaml"} <= set(read["object"])
    made = [path for kind in ("figures", "tables", "report") for path in (smoke.results / kind).rglob("*")]
    assert set(read["result"]) == {str(path.relative_to(smoke.folder)) for path in made if path.is_file()}


def test_the_config_beside_the_results_runs_the_same_workflow(smoke):
    """Merged and complete: given alone, it asks for nothing that is not there."""
    path = smoke.results / "config.yaml"
    assert yaml.safe_load(path.read_text())["lira"]["shard"] == 32
    command = [*SNAKEMAKE, "--cores", "1", "-n", "--configfile", str(path)]
    done = subprocess.run(command, cwd=smoke.folder, capture_output=True, text=True, check=True)
    assert "Nothing to be done" in done.stdout + done.stderr
