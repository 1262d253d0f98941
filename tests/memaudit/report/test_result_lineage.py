"""A result is traced back to given files, and the costs of the jobs behind it are summed by rule."""

import pytest
from report_examples import SIDECARS, record

from memaudit.report.result_lineage import Lineage, Step


@pytest.fixture
def lineage():
    return Lineage(SIDECARS, ["results/r/figures/demo_roc.svg"])


def test_a_figure_is_traced_back_to_given_files(lineage):
    steps = lineage.behind("results/r/figures/demo_roc.svg")
    assert [step.rule for step in steps] == ["demo_judge", "demo_query", "data_fetch", None]
    assert list(steps[1].files) == ["0.nc", "1.nc"]
    assert steps[-1].files == {"raw.csv": "0" * 64}


def test_paths_of_user_files_and_the_key_are_omitted():
    given = ["../../home/alice/clinic/patients.csv", "/srv/alice.csv", "results/r/data/id.key", "config/claims.yaml"]
    steps = Lineage([record("data_fetch", given, ["table"])], ["table"]).behind("table")
    assert steps == [Step(None, {"a file of yours (00000000)": "0" * 64, "config/claims.yaml": "0" * 64})]


def test_jobs_behind_no_result_are_omitted(lineage):
    assert len(lineage.records) == 5
    assert lineage.circumstances()["Python"] == ["3.11"]


def test_jobs_that_differ_in_packages_and_commits_are_not_hidden(lineage):
    assert lineage.packages() == {"numpy": ["1", "2"]}
    assert lineage.circumstances()["commit"] == ["a" * 12, "a" * 12 + " with uncommitted changes"]


def test_packages_of_other_environments_are_named_with_their_place():
    noted = {".venv-deployed": {"pandas": {"version": "2.3.3", "file": "f"}}}
    made = record("audit_query_candidates", [], ["answers"]) | {
        "packages": {"pandas": {"version": "3.1.1", "file": "f"}},
        "other_environments": noted,
    }
    assert Lineage([made], ["answers"]).packages() == {"pandas": ["3.1.1"], "pandas (.venv-deployed)": ["2.3.3"]}


def test_costs_are_summed_over_jobs_and_memory_is_the_largest(lineage):
    cost = lineage.costs()["demo_query"]
    assert (cost.jobs, cost.cpu, cost.memory) == (2, 4.0, 30)
