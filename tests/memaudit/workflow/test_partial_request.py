"""What is tabulated when a run ends with failed jobs, with a workflow that is a stand-in."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import PROJECT, load

from memaudit.common.io import read_json
from memaudit.workflow.partial_request import partial_folder, remove_partial, write_request
from memaudit.workflow.study_catalogue import prepare

JUDGED = "results/smoke/scores/lira/wine/strategies.parquet"


@dataclass(eq=False)  # as hashable as Snakemake's
class Job:
    rule: Any
    output: Any
    wildcards: Any
    log: Any


def job(name, *output, wildcards=(), log=()):
    return Job(SimpleNamespace(name=name), output, wildcards, log)


def ended(*unfinished, failed=()):
    dag = SimpleNamespace(needrun_jobs=lambda: unfinished)
    return SimpleNamespace(dag=dag, scheduler=SimpleNamespace(failed=set(failed)))


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, _, views, _ = prepare(load("smoke"), PROJECT)
    return run, views


def test_studies_that_have_no_tables_are_named_with_what_failed_and_what_is_missing(prepared):
    run, views = prepared
    scoring = job("lira_evaluate_strategies", JUDGED, wildcards=("wine",), log=["logs/wine.log"])
    tables = job("views_tabulate_results_lira", "results/smoke/tables/lira_fpc.csv")
    request = read_json(write_request(run, views, ended(scoring, tables, failed=[scoring])))
    assert list(request["studies"]) == ["lira"]
    assert request["missing"] == [JUDGED, "results/smoke/tables/lira_fpc.csv"]
    failed = {"rule": "lira_evaluate_strategies", "wildcards": ["wine"], "log": ["logs/wine.log"]}
    assert (request["failed"], request["waiting"]) == ([failed], 1)
    study = request["studies"]["lira"]
    assert JUDGED in study["judged"]
    assert not {"lira_claims", "lira_headlines"} & set(study["tables"])
    files = [file for table in study["tables"].values() for file in table["files"]]
    assert files
    assert all(file.startswith("results/smoke/scores/lira/") for file in files)
    assert partial_folder(run).is_dir()


def test_nothing_is_written_where_all_tables_are_made(prepared):
    run, views = prepared
    page, tables = job("report_write_page", "index.html"), job("views_tabulate_results_lira", "lira_fpc.csv")
    assert write_request(run, views, ended(page, failed=[page])) is None
    # Nothing has failed: the run was interrupted.
    assert write_request(run, views, ended(tables)) is None
    assert not partial_folder(run).exists()


def test_partial_tables_go_when_a_run_makes_tables(prepared):
    run, _ = prepared
    partial_folder(run).mkdir(parents=True)
    remove_partial(run, ended(job("maintenance_print_plan")))
    assert partial_folder(run).exists()
    remove_partial(run, ended(job("views_tabulate_results_lira")))
    assert not partial_folder(run).exists()
