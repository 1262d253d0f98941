"""The simulations are resumable: what is known is kept, what has changed or is asked for is simulated again."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.studies.coverage.coverage_registry import CASES
from memaudit.studies.coverage.coverage_simulation import GROUPS


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Simulates two cheap cases into a file; returns what the file then holds."""
    script = load_script("maintenance_measure_coverage")
    for name in CASES.keys() - {"clopper_pearson", "few_units"}:
        monkeypatch.delitem(CASES, name)

    def measure(**params):
        params = {"simulations": 5, "seed": 1} | params
        script.main(SimpleNamespace(output=[tmp_path / "coverage.json"], params=SimpleNamespace(**params)))
        found = read_json(tmp_path / "coverage.json")
        assert found["groups"] == list(GROUPS)
        return found["cases"]

    return measure


def seconds(cases):
    return {name: case["cpu_seconds"] for name, case in cases.items()}


def test_a_second_run_keeps_what_is_there(measured, monkeypatch):
    first = measured()
    assert first.keys() == {"clopper_pearson", "few_units"}
    monkeypatch.setattr(load_script("maintenance_measure_coverage"), "simulate", None)
    assert measured() == first


def test_other_numbers_and_named_cases_are_simulated_again(measured):
    first = measured()
    assert measured(simulations=6)["clopper_pearson"]["simulations"] == 6
    again = measured(only=["clopper_pearson"])
    assert again["clopper_pearson"]["rows"] == first["clopper_pearson"]["rows"]
    assert again["few_units"]["simulations"] == 6


def test_a_case_that_does_not_exist_is_named(measured):
    with pytest.raises(AuditError, match="only: nothing is named 'wilsen'; there are "):
        measured(only=["wilsen"])
