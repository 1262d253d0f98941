"""`./memaudit provenance FOLDER` checks what an audit hands over, and what that rests on."""

import shutil
from pathlib import Path

import pytest

from memaudit.auditing.runner import COPIED
from memaudit.commands import launcher, verify_audit
from memaudit.common.checksums import sha256
from memaudit.common.io import write_json


def sidecar(run, job, inputs, outputs):
    record = {"inputs": {path: sha256(path) for path in inputs}, "outputs": {path: sha256(path) for path in outputs}}
    write_json(record, f"{run}/provenance/{job}.json")


@pytest.fixture(params=verify_audit.MADE)
def audit(request, tmp_path, monkeypatch):
    """A folder as an audit leaves it: the copy of a table, scores, and results with their copies at the top."""
    made, stage = Path(verify_audit.MADE[request.param]), request.param
    run = f"results/{stage}"
    folder = tmp_path / "audit-t"
    for place in (made, "table", f"{run}/scores"):
        (folder / place).mkdir(parents=True)
    monkeypatch.chdir(folder)
    Path("table/table.parquet").write_text("rows")
    scores = Path(run, "scores/threats.parquet")
    scores.write_text("scores")
    write_json({"kind": stage} if stage == "predictions" else {"stage": stage}, made / "summary.json")
    for name, copy in COPIED.items():
        if name != "summary.json":
            (made / name).write_text(name)
        shutil.copyfile(made / name, copy)
    sidecar(run, "score", ["table/table.parquet"], [str(scores)])
    sidecar(run, "page", [str(scores)], [str(made / name) for name in COPIED])
    monkeypatch.chdir(tmp_path)
    return folder, made


def found(capsys, code):
    assert launcher.main(["provenance", "audit-t"]) == code
    printed = capsys.readouterr()
    return (printed.err if code else printed.out).removeprefix("memaudit: 'audit-t': ").strip()


def test_an_untouched_audit_agrees_whichever_stage_was_its_last(audit, capsys):
    line = "report.html, summary.json, risk.parquet and the 5 files behind them agree with the sidecars"
    assert found(capsys, verify_audit.SOUND) == line


@pytest.mark.parametrize("copy", ["report.html", "risk.parquet"])
def test_a_changed_copy_is_named(audit, capsys, copy):
    folder, made = audit
    (folder / copy).write_text("changed by hand")
    assert found(capsys, verify_audit.FAULT).startswith(f"{copy}: was changed, it differs from {made}/")


@pytest.mark.parametrize("text", ['{"stage": "full", "a": 1}', '{"stage": "other"}', "[]", "{", '{"stage": []}'])
def test_a_changed_summary_is_never_sound(audit, capsys, text):
    folder, _ = audit
    (folder / "summary.json").write_text(text)
    assert found(capsys, verify_audit.FAULT).startswith(
        ("summary.json: was changed", "results/full/audit/table: holds")
    )


@pytest.mark.parametrize("name", ["table/table.parquet", "{run}/scores/threats.parquet", "{made}/index.html"])
def test_a_changed_file_behind_the_copies_is_named_with_what_to_do(audit, capsys, name):
    folder, made = audit
    name = name.format(run=Path(*made.parts[:2]), made=made)
    (folder / name).write_text("changed by hand")
    line = found(capsys, verify_audit.FAULT)
    assert line.startswith(f"{name}: ")
    assert line.endswith("delete it, and give the audit's command again")


def test_a_copy_of_the_table_that_is_missing_comes_back_with_the_command(audit, capsys):
    folder, _ = audit
    (folder / "table/table.parquet").unlink()
    line = found(capsys, verify_audit.FAULT)
    assert line == "table/table.parquet: missing, though a sidecar records it; give the audit's command again"


def test_results_that_a_failed_job_has_removed_are_no_sound_audit(audit, capsys):
    folder, made = audit
    shutil.rmtree(folder / made)
    assert found(capsys, verify_audit.FAULT).startswith(f"{made}: holds no results any more")


def test_a_folder_without_an_audit_is_one_line(audit, capsys):
    folder, _ = audit
    (folder / "report.html").unlink()
    assert found(capsys, verify_audit.FAULT).startswith("report.html: is not there")
    shutil.rmtree(folder)
    assert found(capsys, verify_audit.FAULT).startswith("there is no such folder")


def test_a_printed_page_is_said_not_to_be_checked(audit, capsys):
    (audit[0] / "report.pdf").touch()
    assert found(capsys, verify_audit.SOUND).endswith("report.pdf is not checked: it is printed from report.html")
