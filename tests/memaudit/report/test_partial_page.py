"""The page of a run in which jobs have failed."""

from memaudit.report.partial_page import page


def request(log):
    table = {"files": ["a.parquet", "b.parquet"], "layout": None, "caption": ""}
    return {
        "run": "results/demo",
        "command": "snakemake --cores 2",
        "waiting": 3,
        "interrupted": False,
        "missing": ["b.parquet", "tables/x.csv"],
        "failed": [{"rule": "lira_gather_grid", "wildcards": ["wine", "efficient"], "log": [str(log)]}],
        "studies": {"lira": {"tables": {"lira_x": table}, "judged": ["a.parquet"], "stated": []}},
    }


def test_it_says_what_failed_why_what_is_missing_and_how_to_go_on(tmp_path):
    log = tmp_path / "wine.log"
    log.write_text("started\nmemaudit: the table has no target\n\n")
    text = page(request(log))
    assert "Jobs that failed: 1; that could not run for that, or were not started: 3." in text
    assert f"- `lira_gather_grid wine efficient`: memaudit: the table has no target\n  - log: {log}\n" in text
    assert "- lira: 1 of 2 files of results are missing; complete tables: none\n  - b.parquet\n" in text
    assert "    snakemake --cores 2\n" in text


def test_an_interrupted_run_has_no_failures(tmp_path):
    text = page(request(tmp_path / "none.log") | {"interrupted": True})
    assert "The run was interrupted. Jobs that were ended with it: 1; that were not started: 3." in text
    assert "fail" not in text.lower()
    assert "Give the same command again" in text


def test_a_job_that_left_no_log_is_said_to_have_none(tmp_path):
    assert "`lira_gather_grid wine efficient`: its log is empty" in page(request(tmp_path / "none.log"))
