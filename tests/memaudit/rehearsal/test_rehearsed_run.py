"""What a rehearsal says of a finished run."""

import logging
from pathlib import Path

from memaudit.rehearsal.rehearsed_run import costs, failures, outcome, summary
from memaudit.workflow import start_up
from memaudit.workflow.job_progress import Progress

LOG = """[Thu Nov 26 12:10:22 2026]
memaudit: 2 of 9 jobs done, up to 2 min left; lira_query_shadows wine 0 starts
memaudit: column 'x' is free text
memaudit: lira_query_shadows has failed; see {log}
3 of 9 steps (33%) done
"""


def test_a_failure_is_read_as_a_run_prints_it():
    lines = []
    failed = {"event": "job_error", "rule_name": "lira_query_shadows", "log": ["gone.log"]}
    Progress(lambda: [1.0], 1, lines.append).emit(logging.makeLogRecord(failed))
    assert list(failures("\n".join(lines))) == [("lira_query_shadows", "gone.log: its log is empty")]


def test_a_failed_job_is_named_with_the_line_that_says_why(tmp_path):
    log = tmp_path / "0.log"
    log.write_text("a line\nTraceback (most recent call last):\n  File 1\nmemaudit: column 'x' is free text\n")
    assert list(failures(LOG.format(log=log))) == [("lira_query_shadows", f"{log}: memaudit: column 'x' is free text")]
    assert list(failures(LOG.format(log="gone"))) == [("lira_query_shadows", "gone: its log is empty")]
    assert list(failures("all is well")) == []


def test_costs_are_summed_by_study_for_the_jobs_that_have_run(monkeypatch):
    folder = Path("results/x/provenance")
    sidecars = {
        f"{folder}/lira_query_shadows/wine/0.json": {"cpu_seconds": 3.0},
        f"{folder}/lira_rank_records/wine.json": {"cpu_seconds": 1.0},
        f"{folder}/data_fetch_table/wine.json": {"cpu_seconds": 2.0},
    }
    seconds = {
        ("lira_query_shadows", "wine/0"): 6.0,
        ("lira_rank_records", "wine"): 2.0,
        ("data_fetch_table", "wine"): 1.0,
    }
    table = costs(sidecars, folder, lambda rule, job: seconds[rule, job])
    assert table.values.tolist() == [["lira", 2, 4, 0, 8, 2.0], ["data", 1, 2, 0, 1, 0.5], ["all", 3, 6, 0, 9, 1.5]]
    monkeypatch.setattr(start_up, "start_up_seconds", {rule: 2.0 for rule, _ in seconds}.get)
    forked = {name: record | {"forked": True} for name, record in sidecars.items()}
    table = costs(forked, folder, lambda rule, job: seconds[rule, job])
    assert table.values.tolist() == [["lira", 2, 4, 4, 8, 1.0], ["data", 1, 2, 2, 1, 0.25], ["all", 3, 6, 6, 9, 0.75]]


def test_a_run_without_results_misses_all_its_tables(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = outcome(config, ["data"], LOG.format(log="gone"))
    assert (found["done"], found["jobs"], found["failed"][0][0]) == (0, 6, "lira_query_shadows")
    assert found["costs"] == []
    text = summary(found)
    assert "jobs: 0 of 6 done, 1 failed" in text
    assert "FAILED lira_query_shadows: gone" in text
    assert "MISSING results/demo/tables/data_" in text
    assert "lira_strategies" not in text


def test_a_rehearsal_that_ran_no_job_says_so(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert summary(outcome(config, ["data"], "")).startswith("jobs: none was run\n")
