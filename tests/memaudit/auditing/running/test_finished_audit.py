"""A finished audit is read as it was left, and what is none is refused in one line."""

import json

import pytest
from audit_folders import finished

from memaudit.auditing.running import finished_audit
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table


def test_results_and_settings_are_read(tmp_path):
    audit = finished_audit.read(finished(tmp_path / "a", seed=5))
    assert audit.seed == 5
    assert audit.summary.rated == 400
    assert audit.threats == ["labels", "probabilities"]
    assert audit.settings() == {
        "seed": 5,
        "audit.threats": ["labels", "probabilities"],
        "audit.plan.sets": 32,
        "audit.by": [],
    }


def test_an_audit_of_an_earlier_version_is_read_by_its_former_names(tmp_path):
    folder = finished(tmp_path / "a")
    now, path = finished_audit.read(folder), folder / "summary.json"
    names = {"vulnerability": "exposure", "posteriors": "beliefs"}
    content = json.loads(path.read_text())
    content["exposed"] = [{names.get(key, key): value for key, value in one.items()} for one in content["exposed"]]
    path.write_text(json.dumps(content))
    write_table(
        now.risk.rename(columns={"vulnerability": "exposure", "posterior_0.1": "belief_0.1"}), folder / "risk.parquet"
    )
    earlier = finished_audit.read(folder)
    assert earlier.summary.exposed == now.summary.exposed
    assert list(earlier.risk) == list(now.risk)
    assert {"vulnerability", "posterior_0.1"} <= set(now.risk)


def test_results_alone_are_enough(tmp_path):
    folder = finished(tmp_path / "a", copies=False)
    (folder / "full.yaml").unlink()
    audit = finished_audit.read(folder)
    assert audit.seed is None
    assert audit.threats == []


def test_an_audit_of_predictions_is_named_as_what_it_is(tmp_path):
    folder = finished(tmp_path / "a")
    (folder / "summary.json").write_text('{"kind": "predictions"}')
    with pytest.raises(AuditError, match="holds an audit of files of predictions, which has no contexts to compare"):
        finished_audit.read(folder)


@pytest.mark.parametrize("damage", ["gone", "empty", "no json", "a list", "another version", "no settings"])
def test_what_is_no_audit_is_one_line(tmp_path, damage):
    folder = tmp_path / "a"
    if damage == "empty":
        folder.mkdir()
    elif damage != "gone":
        finished(folder)
    if damage == "no json":
        (folder / "summary.json").write_text("{")
    if damage == "a list":
        (folder / "summary.json").write_text("[]")
    if damage == "another version":
        (folder / "summary.json").write_text('{"version": 1}')
    if damage == "no settings":
        (folder / "full.yaml").write_text("a: [")
    with pytest.raises(AuditError) as error:
        finished_audit.read(folder)
    assert "\n" not in str(error.value)
