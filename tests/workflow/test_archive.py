"""`snakemake archive` on a real run: one file that verifies where the run is not."""

import subprocess
import sys
import tarfile

import pytest
import yaml

from workflow.conftest import SNAKEMAKE

pytestmark = pytest.mark.xdist_group("smoke")


def verify(smoke, path, folder):
    command = [
        sys.executable,
        str(smoke.folder / "workflow_scripts/provenance/verify_archive.py"),
        "--input",
        str(path),
    ]
    return subprocess.run(command, cwd=folder, env=smoke.environment, capture_output=True, text=True, check=False)


def test_an_archived_run_verifies_elsewhere_and_a_cut_one_does_not(smoke, tmp_path):
    printed = smoke.snakemake("archive")
    made = smoke.results / "smoke.tar.gz"
    archive = made.rename(tmp_path / "smoke.tar.gz")
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


def test_the_config_beside_the_results_runs_the_same_workflow(smoke):
    """Merged and complete: given alone, it asks for nothing that is not there."""
    path = smoke.results / "config.yaml"
    assert yaml.safe_load(path.read_text())["lira"]["shard"] == 32
    command = [*SNAKEMAKE, "--cores", "1", "-n", "--configfile", str(path)]
    done = subprocess.run(command, cwd=smoke.folder, capture_output=True, text=True, check=True)
    assert "Nothing to be done" in done.stdout + done.stderr
