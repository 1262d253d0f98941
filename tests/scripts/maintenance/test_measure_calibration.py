"""Repeated audits are resumable: what is known is kept, what has changed or is named is measured again."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.studies.calibration.answer_pools import generated
from memaudit.studies.calibration.calibration_runs import SOURCES, Source


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Audits two small generators into a file; returns what the file then holds."""
    script = load_script("maintenance_measure_calibration")
    for name in list(SOURCES):
        monkeypatch.delitem(SOURCES, name)
    for name in ("first", "second"):
        small = Source(lambda contexts, rng: generated(contexts, 30, rng), ("precision",), 40)
        monkeypatch.setitem(SOURCES, name, small)

    def measure(**params):
        path = tmp_path / "audit_calibration.json"
        script.main(SimpleNamespace(output=[path], params=SimpleNamespace(**({"share": 0.01, "seed": 1} | params))))
        return read_json(path)["sources"]

    return measure


def test_a_second_run_keeps_what_is_there(measured, monkeypatch):
    first = measured()
    assert first.keys() == {"first", "second"}
    assert first["first"]["repetitions"] == {"precision": 10}
    monkeypatch.setattr(load_script("maintenance_measure_calibration"), "measure", None)
    assert measured() == first


def test_named_ones_and_other_seeds_are_measured_again(measured):
    first = measured()
    assert measured(only=["second"])["second"]["rows"] == first["second"]["rows"]
    other = measured(seed=2)
    assert other["first"]["seed"] == 2
    assert other["first"]["rows"] != first["first"]["rows"]


def test_a_name_that_does_not_exist_is_told(measured):
    with pytest.raises(AuditError, match="only: nothing is named 'third'; there are first, second"):
        measured(only=["third"])
