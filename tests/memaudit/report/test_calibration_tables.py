"""The page of repeated audits shows each rate as measured, pools the controls, and lists what does not hold."""

from memaudit.common.io import read_json
from memaudit.common.project_paths import PROJECT
from memaudit.report import calibration_tables
from memaudit.studies.calibration.calibration_runs import REPETITIONS, SOURCES, is_current


def row(**changed):
    usual = {"check": "precision", "metric": "precision", "rate": 0.94, "error": 0.01, "width": 0.5, "level": 0.939}
    return usual | {"refused": 0.02, "n": 200, "verdict": "holds"} | changed


def measured(*rows):
    facts = {"records": 240, "members": 192, "contexts": 400, "cpu_seconds": 60.0}
    return {"sources": {"a table": facts | {"rows": list(rows)}}}


def test_a_rate_stands_with_its_level_error_and_verdict():
    shown = calibration_tables.context(measured(row()))
    assert "| a table | 32 | precision | 0.939 | 0.940 ± 0.010 | 0.500 | 2% | holds |" in shown["tables"]["precision"]
    assert shown["misses"] == ""
    assert (shown["minutes"], shown["most"]) == (1, 240)


def test_what_misses_is_listed_and_controls_are_pooled():
    control = {"check": "controls", "metric": "placebo", "n": 30}
    shown = calibration_tables.context(
        measured(row(**control, rate=0.0), row(**control, rate=0.2, verdict="misses"), row(check="quick"))
    )
    assert "| a table | controls | placebo | 0.200 ± 0.010 | misses |" in shown["misses"]
    assert shown["controls"] == "placebo 0.100 of 60"
    assert shown["verdicts"] == {"holds": 2, "misses": 1}


def test_the_file_has_every_table_and_generator_with_the_present_numbers():
    """A source whose checks have changed is measured again by `make calibration`."""
    sources = read_json(PROJECT / "results/bench/audit_calibration.json")["sources"]
    assert sources.keys() == SOURCES.keys()
    assert all(is_current(one, name, REPETITIONS, one["seed"]) for name, one in sources.items())
