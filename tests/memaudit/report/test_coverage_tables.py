"""The page of coverage shows the simulations as they are, every case among them, and explains what does not hold."""

import pytest

from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import coverage_tables
from memaudit.studies.coverage import coverage_simulation
from memaudit.studies.coverage.coverage_registry import CASES


@pytest.fixture(scope="module")
def simulated():
    return read_json(PROJECT / "results/bench/coverage.json")


def row(**changed):
    usual = {"scenario": "null", "metric": "AUC", "kind": "interval", "rate": 0.951, "error": 0.007, "width": 0.2}
    return usual | {"refused": 0.0, "verdict": "as stated"} | changed


def case(*rows, **changed):
    texts = {"group": "Tests", "name": "t", "printed": "means", "use": "", "simulations": 10, "cpu_seconds": 60.0}
    return texts | {"rows": list(rows)} | changed


def test_rates_stand_with_their_error_and_verdict():
    shown = coverage_tables.context({"groups": ["Tests"], "cases": {"a": case(row())}})["sections"]["Tests"][0]["table"]
    assert "| null | AUC | 0.951 ± 0.007 | 0.2 | 0.0% | as stated |" in shown


def test_what_does_not_hold_is_listed_with_its_use():
    narrow = row(rate=0.9, verdict="too narrow")
    found = coverage_tables.context({"groups": ["Tests"], "cases": {"a": case(row(), narrow, use="not below 5 units")}})
    assert found["exceptions"].count("\n") == 2
    assert "0.900 ± 0.007 | too narrow | not below 5 units |" in found["exceptions"]
    assert found["verdicts"] == {"as stated": 1, "too narrow": 1}
    assert found["minutes"] == 1


def test_sections_stand_in_the_order_of_the_groups():
    cases = {"a": case(row()), "b": case(row(), group="Advice"), "c": case(row())}
    sections = coverage_tables.context({"groups": ["Advice", "Tests"], "cases": cases})["sections"]
    assert [(group, len(found)) for group, found in sections.items()] == [("Advice", 1), ("Tests", 2)]


def test_a_refused_interval_has_no_rate():
    refused = row(rate=None, error=None, width=None, refused=1.0, verdict="refused")
    shown = coverage_tables.context({"groups": ["Tests"], "cases": {"a": case(refused)}})["sections"]["Tests"][0][
        "table"
    ]
    assert "| null | AUC | - | - | 100.0% | refused |" in shown


def test_every_registered_case_is_simulated(simulated):
    assert simulated["cases"].keys() == CASES.keys()
    assert simulated["groups"] == list(coverage_simulation.GROUPS)
    assert {one["group"] for one in simulated["cases"].values()} == set(simulated["groups"])
    for name, known in simulated["cases"].items():
        assert coverage_simulation.is_current(known, name, 500, 3), f"run `make coverage`: {name} has changed"


def test_what_does_not_hold_as_stated_says_how_it_may_be_used(simulated):
    broken = [
        one for one in simulated["cases"].values() if {r["verdict"] for r in one["rows"]} & {"too narrow", "too often"}
    ]
    assert all(one["use"] for one in broken), [one["name"] for one in broken if not one["use"]]
