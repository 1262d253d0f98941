"""A run that agrees with its sidecars is counted, a changed byte ends in one line."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json

JOB = SimpleNamespace(params=SimpleNamespace(run="results/demo", settings=["--configfile", "mine.yaml"]))


def test_results_and_the_files_behind_them_are_counted(finished, capsys, monkeypatch):
    lines = []
    monkeypatch.setattr(load_script("provenance_verify_results"), "tell", lines.append)
    load_script("provenance_verify_results").main(JOB)
    assert lines == ["provenance: 2 results and the 3 files behind them agree with their sidecars"]


def test_packages_of_other_environments_are_named(finished, monkeypatch):
    lines = []
    path = finished / "provenance/raw.json"
    packages = {name: {"version": version, "file": "f"} for name, version in (("tabdpt", "1.3.1"), ("torch", "2"))}
    write_json(read_json(path) | {"other_environments": {".venv-deployed": packages}}, path)
    monkeypatch.setattr(load_script("provenance_verify_results"), "tell", lines.append)
    load_script("provenance_verify_results").main(JOB)
    told = "provenance: models of .venv-deployed: tabdpt 1.3.1; all its 2 packages are in the sidecars"
    assert lines[1:] == [told]


def test_a_changed_file_is_named(finished):
    (finished / "raw").write_text("other rows")
    with pytest.raises(AuditError, match=r"^results/demo/raw: "):
        load_script("provenance_verify_results").main(JOB)


def test_a_run_whose_results_a_failed_job_has_removed_names_the_job_and_the_file(finished, monkeypatch):
    lines = []
    monkeypatch.setattr(load_script("provenance_verify_results"), "tell", lines.append)
    for name in ("figures/roc.svg", "provenance/figures_roc.svg.json"):
        (finished / name).unlink()
    (finished / "logs").mkdir()
    (finished / "logs/views_draw_figures.log").touch()
    (finished / "raw").write_text("damaged")
    with pytest.raises(AuditError, match=r"^results/demo/raw: changed since it was made, and no result rests on it"):
        load_script("provenance_verify_results").main(JOB)
    assert lines == [
        "provenance: results/demo/logs/views_draw_figures.log: this job failed or was stopped, its results are "
        "missing; run its command again"
    ]


def test_a_damaged_file_beside_sound_results_is_named(finished):
    write_json({"inputs": {}, "outputs": {"results/demo/shard": "0" * 64}}, finished / "provenance/shard.json")
    (finished / "shard").write_text("damaged")
    with pytest.raises(AuditError, match=r"^results/demo/shard: changed since it was made"):
        load_script("provenance_verify_results").main(JOB)
