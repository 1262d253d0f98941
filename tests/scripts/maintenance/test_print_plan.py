"""What a plan says of numbers that it cannot know, and how it tells the command that the run would not start."""

import re
import runpy
from types import SimpleNamespace

import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from memaudit.common.snakemake_command import NO_START
from memaudit.workflow.job_costs import Size

SCRIPT = PROJECT / "workflow_scripts/maintenance/print_plan.py"
PARAMS = {
    "run": "results/mine",
    "unit_costs": str(PROJECT / "results/bench/unit_costs.json"),
    "jobs": {"lira_gather_grid": {"wine/efficient": [182272, 182272, 182272]}},
    "gpu": [],
    "cores": 2,
    "tables": {"wine": {"rows": 178, "columns": 13, "known": True, "counted": False, "damaged": None}},
    "settings": {"gpu_tflops": 10.0, "width": 0.1},
    "uncounted": [],
    "downloads": {"weights": 0.0},
    "minutes": {"lira_gather_grid": 10},
    "shadows": {"lira": {"models": 1024, "fpr": [0.1], "records": {"wine": 1420}}},
}


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(NO_START, str(tmp_path / "no_start"))

    def printed(**params):
        runpy.run_path(str(SCRIPT))["main"](SimpleNamespace(params=SimpleNamespace(**PARAMS | params), log=[]))
        return capsys.readouterr().out, (tmp_path / "no_start").exists()

    return printed


def test_a_run_that_would_not_start_is_told_to_the_command(plan):
    assert not plan(missing=[])[1]
    text, no_start = plan(missing=["models/mine/path: there is no file w.ckpt; put the weights there"])
    assert "A RUN WOULD NOT START: models/mine/path: there is no file w.ckpt" in text
    assert no_start


def test_each_thing_that_is_missing_has_its_line(plan):
    text, _ = plan(missing=["a: put it there", "b: put it there"])
    assert "- A RUN WOULD NOT START: a: put it there.\n- A RUN WOULD NOT START: b: put it there.\n" in text


def test_downloads_are_counted_by_kind(plan):
    text, _ = plan(missing=[], downloads={"tables": 26, "weights": 0.0})
    assert "- Not counted: the time of downloads of 26 tables, and the disk of their caches." in text
    assert "downloads" not in plan(missing=[])[0]


def test_a_run_that_would_not_start_says_so_first(plan):
    text, _ = plan(missing=["there is no file a.csv"])
    assert text.split("\n\n")[1].startswith("A RUN WOULD NOT START: see below the table.\n")
    assert "NOT START" not in plan(missing=[])[0]


def test_a_time_that_no_job_of_its_size_was_measured_for_says_so_beside_it(plan):
    text, _ = plan(missing=[])
    assert "extrapolated" not in text
    far = 5e6 * read_json(PARAMS["unit_costs"])["rules"]["lira_gather_grid"]["cpu"]["largest"]
    verdict = plan(missing=[], jobs={"lira_gather_grid": {"wine/efficient": [far, 1.0, 1.0]}})[0].partition("\n\n  ")[0]
    assert "extrapolated up to 5,000,000 times beyond any measured job" in " ".join(verdict.split())


def test_a_job_that_lasts_longer_than_it_requests_says_whether_it_goes_on_when_sent_again(plan):
    units = read_json(PARAMS["unit_costs"])["rules"]
    base, rate = units["lira_query_shadows"]["cpu"]["seconds"]
    job = {"wine/0": [(2.5 * 600 - base) / rate, 1.0, 1.0]}
    minutes = {"lira_query_shadows": 10, "lira_gather_grid": 10}
    text = " ".join(plan(missing=[], jobs={"lira_query_shadows": job}, minutes=minutes)[0].split())
    assert "- LONG: a job of lira_query_shadows is predicted to last 25.0 min" in text
    assert "it goes on where it was, on Kubernetes from its beginning: about 2 retries." in text
    base, rate = units["lira_gather_grid"]["cpu"]["seconds"]
    job = {"wine/efficient": [(2.5 * 600 - base) / rate, 1.0, 1.0]}
    text = " ".join(plan(missing=[], jobs={"lira_gather_grid": job}, minutes=minutes)[0].split())
    assert "- TOO LONG: a job of lira_gather_grid is predicted" in text


def test_the_disk_has_the_largest_state_of_a_job_and_a_large_one_is_named(plan):
    jobs = {"lira_query_shadows": {str(place): Size(0, 0, 0, state=state) for place, state in enumerate((2e11, 5e8))}}
    text = " ".join(plan(missing=[], jobs=jobs)[0].split())
    assert "- 200 GB of the disk are what a job of lira_query_shadows keeps until it ends" in text
    assert re.search(r"total .* 200,\d{3} MB ", text)
    small = {"lira_query_shadows": {"0": Size(0, 0, 0, state=5e8)}}
    assert "keeps until it ends" not in plan(missing=[], jobs=small)[0]


def test_numbers_of_records_are_those_before_duplicates_are_removed(plan):
    text, _ = plan(missing=[])
    assert "lira: 1,024 shadow models, at most 1,420 records of wine, less duplicates. An evaluation needs\n" in text


def test_all_large_numbers_have_groups_of_three_digits(plan):
    jobs = {"lira_gather_grid": {str(number): [10.0, 10.0, 10.0] for number in range(1500)}}
    table = PARAMS["tables"]["wine"] | {"rows": 45211}
    text, _ = plan(missing=[], jobs=jobs, tables={"bank": table}, downloads={"tables": 1200, "weights": 0.0})
    assert "\ntotal  1,500 " in text
    assert "rows x features: bank 45,211 x 13." in text
    assert "downloads of 1,200 tables, " in text
