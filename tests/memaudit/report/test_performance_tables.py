"""Tables of the page of performance are those of the benchmarks' JSON."""

import copy

import pytest

from memaudit.attacks.registry import ON_ONE_MATRIX
from memaudit.common.io import read_json
from memaudit.report import performance_tables

# Benchmarks that have a table of their own.
ELSEWHERE = {"deduplicate", "evaluate_grid"}


@pytest.fixture
def benches(project):
    return {path.stem: read_json(path) for path in (project / "results/bench").glob("*.json")}


def test_every_ratio_that_was_measured_is_shown(benches):
    shown = performance_tables.context(benches)["ratios"]
    queries = {name: bench for name, bench in benches.items() if name not in ELSEWHERE}
    measured = {name: value for bench in queries.values() for name, value in bench.get("ratio", {}).items()}
    assert measured.keys() <= performance_tables.RATIOS.keys()
    assert all(f"| {performance_tables.RATIOS[name][0]} |" in shown for name in measured)
    assert all(f"| {value:.3g} |" in shown for value in measured.values())


def test_another_ratio_gives_another_table(benches):
    other = copy.deepcopy(benches)
    other["probe_contexts"]["ratio"]["package_over_ours_distinct"] = 98.7
    assert "| at least 15 | 98.7 |" in performance_tables.context(other)["ratios"]


def test_a_slope_that_was_not_computed_is_empty(benches):
    axes = [one for one in benches["scale_engine"]["axes"] if "arithmetic" not in one]
    assert axes
    lines = performance_tables.context(benches)["scaling"].splitlines()
    for one in axes:
        (line,) = (line for line in lines if f"| {one['part']}: {one['axis']} |" in line)
        assert line.split("|")[4].strip() == ""


def test_every_score_of_the_registry_is_shown_with_its_share(benches):
    bench = benches["evaluate_grid"]
    shown = performance_tables.context(benches)
    for name, of in bench["scores"].items():
        (line,) = (line for line in shown["scores"].splitlines() if line.startswith(f"| {name} |"))
        seconds = of["cpu_seconds"] / bench["plain_pass"]["cpu_seconds"]
        assert line.endswith(f"| {seconds:.2f} | {of['peak_mib'] / bench['grid_mib']:.1f} |")
    assert bench["scores"].keys() == ON_ONE_MATRIX.keys()
    assert "| ours, all scores |" in shown["ways"]


def test_errors_of_the_plan_are_shown_of_rules_that_take_time_and_summed_over_all(benches):
    rules = {
        "small": {"jobs": 2, "measured": 1.0, "predicted": 3.0, "ratios": [2.0, 4.0], "run": "results/a"},
        "large": {"jobs": 3, "measured": 1999.0, "predicted": 997.0, "ratios": [0.4, 0.6], "run": "results/a"},
    }
    benches["unit_costs"] = benches["unit_costs"] | {"errors": rules}
    lines = performance_tables.context(benches)["errors"].splitlines()[2:]
    assert lines == [
        "| large | 3 | 1,999 | 997 | 0.499 | 0.4 | 0.6 | results/a |",
        "| all 2 rules | 5 | 2,000 | 1,000 | 0.5 |  |  |  |",
    ]
    del benches["unit_costs"]
    assert performance_tables.context(benches)["errors"] == ""
