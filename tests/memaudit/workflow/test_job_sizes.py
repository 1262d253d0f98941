"""Jobs of a whole run: all rules of the DAG have sizes, shared jobs stand once."""

import pytest
from conftest import PROJECT, load

from memaudit.workflow.job_costs import size
from memaudit.workflow.job_sizes import Workload
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.study import Study
from memaudit.workflow.view_files import Views


class One(Study):
    name = "one"

    def sizes(self):
        return self.data_sizes(["wine"]) | {"one_ask": {"a": size(3)}, "one_leave_out": {}}

    def model_uses(self):
        return {"tabicl-small": [{"where": "one", "rows": 8, "features": 13}], "kumo-large": []}

    def shadows(self):
        return {"models": 8, "fpr": [0.1], "records": {"wine": 10}}


class Two(Study):
    name = "two"

    def sizes(self):
        return self.data_sizes(["wine", "digits"], ["half"])

    def model_uses(self):
        return {"tabicl-small": [{"where": "two", "rows": 9, "features": None}]}


@pytest.fixture
def workload(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load("smoke"), PROJECT)
    drawings = {"one_roc": ["one_roc"], "one_auc": ["one_auc", "one_again"]}
    views = {"one": Views({}, {"one_a": {}, "one_b": {}}, {}, drawings, "", None, None, ["claims.parquet"])}
    return Workload(run, {"one": One(run), "two": Two(run)}, views)


def test_a_job_that_two_studies_need_stands_once_and_rules_without_jobs_are_left_out(workload):
    sizes = workload.sizes()
    assert list(sizes["data_fetch_table"]) == ["wine", "digits"]
    assert list(sizes["data_split_records"]) == ["wine/half", "digits/half"]
    assert sizes["one_ask"] == {"a": size(3)}
    assert "one_leave_out" not in sizes
    assert sizes["data_make_key"] == sizes["report_write_page"] == {"": size(0)}


def test_views_are_sized_by_the_number_of_their_files(workload):
    sizes = workload.sizes()
    assert sizes["views_tabulate_results"] == {"one": size(2)}
    assert sizes["views_draw_figures"] == {"one_roc": size(1), "one_auc": size(2)}


def test_requests_of_all_studies_are_gathered_by_model(workload):
    uses = workload.model_uses()
    assert [use["where"] for use in uses["tabicl-small"]] == ["one", "two"]
    assert uses["kumo-large"] == []
    assert workload.uncounted() == []  # no contexts are requested of it
    uses["kumo-large"].append({"where": "two", "rows": 4, "features": 2})
    workload.model_uses = lambda: uses
    assert workload.uncounted() == ["kumo-large (two)"]
    assert list(workload.shadows()) == ["one"]


def test_every_table_has_a_size(workload):
    assert {name: table["rows"] for name, table in workload.tables().items()} == {"wine": 178, "digits": 1797}
