"""Sidecars record what made a result: hashes of inputs and outputs, code, circumstances."""

from types import SimpleNamespace

import pytest

from memaudit.common import loaded_packages
from memaudit.common.checksums import sha256
from memaudit.common.io import read_json
from memaudit.workflow import sidecar
from memaudit.workflow.job import Paths


def written(tmp_path, monkeypatch, **facts):
    """The sidecar of a job that made `made` from `given`."""
    monkeypatch.chdir(tmp_path)
    for name in ("given", "made"):
        (tmp_path / name).write_text(name)
    job = SimpleNamespace(input=Paths(["given"]), output=Paths(["made", "sidecar=provenance/made.json"]))
    job.params, job.wildcards = SimpleNamespace(code="c0de", seed=3), SimpleNamespace(dataset="wine")
    sidecar.write("provenance/made.json", "lira_make", job, facts, sidecar.Stopwatch())
    return read_json("provenance/made.json")


def test_a_sidecar_names_files_by_hash_and_itself_not(tmp_path, monkeypatch):
    record = written(tmp_path, monkeypatch, device="cpu")
    assert record["inputs"] == {"given": sha256(tmp_path / "given")}
    assert record["outputs"] == {"made": sha256(tmp_path / "made")}
    assert (record["rule"], record["code"], record["device"]) == ("lira_make", "c0de", "cpu")
    assert record["params"] == {"seed": 3}
    assert "memaudit.workflow.sidecar" in record["modules"]
    assert record["cpu_seconds"] >= 0


def test_packages_of_other_environments_are_recorded_where_a_job_has_used_some(tmp_path, monkeypatch):
    monkeypatch.setattr(loaded_packages, "_ELSEWHERE", {})
    assert "other_environments" not in written(tmp_path, monkeypatch)
    noted = {".venv-deployed": {"tabdpt": {"version": "1.3.1", "file": "f"}}}
    monkeypatch.setattr(loaded_packages, "_ELSEWHERE", noted)
    assert written(tmp_path, monkeypatch)["other_environments"] == noted


def test_hashes_that_a_job_knows_are_taken_from_it(tmp_path, monkeypatch):
    assert written(tmp_path, monkeypatch, outputs={"made": "f" * 64})["outputs"] == {"made": "f" * 64}


def test_all_sidecars_below_a_folder_are_found(tmp_path, monkeypatch):
    record = written(tmp_path, monkeypatch)
    assert sidecar.read_all(tmp_path / "provenance") == {str(tmp_path / "provenance/made.json"): record}


@pytest.mark.parametrize(
    ("state", "commit"),
    [
        (None, {}),
        ({"commit": "c0ffee", "dirty": False}, {"commit": "c0ffee"}),
        ({"commit": "c0ffee", "dirty": True}, {"commit": "c0ffee with uncommitted changes"}),
    ],
)
def test_versions_say_where_the_code_was_edited_since_its_commit(monkeypatch, state, commit):
    monkeypatch.setattr(sidecar, "git_state", lambda: state)
    assert sidecar.versions() == {"memaudit": sidecar.project_version()} | commit
