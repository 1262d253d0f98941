"""The text of a plan: a line of costs for each part of a run, and a note for each job that does not end in its time."""

from types import SimpleNamespace

from memaudit.workflow.job_costs import Cost, size
from memaudit.workflow.plan_text import cost_table, fault_lines, note_lines

HOUR = 3600.0
UNITS = {"measured": {"cpu": {"platform": "here", "jobs": 4, "run": "results/demo", "date": "today"}}, "rules": {}}


def test_a_line_has_the_sums_of_its_rules_and_the_longest_of_their_jobs():
    rules = {
        "lira_a": Cost(3, 4 * HOUR, 0.0, 0.0, 2e6, 512.0, 120.0),
        "lira_b": Cost(1, 6 * HOUR, 2 * HOUR, HOUR, 3e6, 2048.0, 30.0),
    }
    table = cost_table(
        {"lira": rules, "none": {}}, {"lira_a": {"ratios": [0.5, 2.0]}, "lira_b": {"ratios": [1.0, 3.0]}}
    )
    header, lira, none = table.splitlines()
    assert header.split()[:2] == ["jobs", "CPU-hours"]
    assert lira.split() == ["lira", "4", "10", "4", "to", "14", "2", "1", "5", "MB", "2.0", "GiB", "2.0", "min"]
    assert none.split() == ["none", "0", "-", "-", "to", "-", "-", "-", "0", "MB", "0.0", "GiB", "0", "s"]


def test_a_job_that_lasts_longer_than_it_requests_is_a_fault_and_a_missing_file_comes_first():
    rule = {"cpu": {"seconds": [2 * HOUR, 0.0], "bytes": [0, 0], "mebibytes": [0, 0], "jobs": 1, "largest": 1}}
    params = SimpleNamespace(missing=["a: put it there"], gpu=[], minutes={"lira_rank_records": 60})
    first, second = fault_lines(params, {"lira_rank_records": {"wine": size(1)}}, {"lira_rank_records": rule}, 1e12)
    assert first == "A RUN WOULD NOT START: a: put it there."
    assert second.startswith("TOO LONG: a job of lira_rank_records is predicted to last 2.0 h")


def test_rules_that_were_never_measured_are_named():
    tables = {"wine": {"rows": 1780, "columns": 13, "known": True, "counted": False, "damaged": None}}
    params = SimpleNamespace(
        gpu=[], uncounted=[], downloads={"weights": 0.0}, tables=tables, settings={"gpu_tflops": 10.0}
    )
    lines = list(note_lines(params, {"lira_rank_records": {"wine": size(1)}}, UNITS))
    assert "Not measured, and counted as the cheapest of jobs: lira_rank_records." in lines
    assert lines[0] == "Measured on a CPU (here): 4 jobs of results/demo, today."
    assert lines[-1] == "Tables, rows x features: wine 1,780 x 13."
