"""Sizes of the jobs of the study tabpate: each shard's own releases, queries that are asked, poisons."""

import pytest
from conftest import PROJECT, load
from tabpate_study import small_study

from memaudit.privacy.accounting import Budget
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.tabpate_release import Settings, planned
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.tabpate_lookups import Tabpate
from memaudit.workflow.studies.tabpate_sizes import TabpateSizes


@pytest.fixture
def tabpate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_study()


def test_sizes_cover_all_jobs_and_grow_with_the_teachers(tabpate):
    sizes = tabpate.sizes()
    assert sizes["tabpate_release_contexts"].keys() == {"wine/0", "wine/1", "diabetes/0", "diabetes/1"}
    assert sizes["tabpate_release_shadows"].keys() == {"wine/0", "wine/1", "wine/2"}
    assert sizes["tabpate_code_records"].keys() == {"wine/mst"}
    assert sizes["tabpate_refit_synthesizers"].keys() == {"mst"}
    before = sizes["tabpate_release_contexts"]["diabetes/0"].work
    for name in ("as_published", "as_published alpha 0.2"):
        tabpate.methods.all[name]["settings"]["queries"] *= 10
    assert tabpate.sizes()["tabpate_release_contexts"]["diabetes/0"].work > before


def test_a_shard_has_the_work_of_its_own_releases(tabpate):
    """Of six releases of wine the last two are of ten times as many teachers."""
    tabpate.methods.all["as_published alpha 0.2"]["settings"] = tabpate.methods.all["as_published"]["settings"] | {
        "teachers": 10 * tabpate.methods.all["as_published"]["settings"]["teachers"],
        "threshold": None,
    }
    light, heavy = (tabpate.sizes()["tabpate_release_contexts"][f"wine/{shard}"].work for shard in (0, 1))
    assert heavy > 2 * light
    whole, sizes = tabpate.methods.releases("wine", "contexts"), TabpateSizes(tabpate)
    assert light + heavy == pytest.approx(sizes.releases("wine", whole).work)


def test_answers_of_a_shard_are_those_of_its_own_releases(tabpate):
    releases = tabpate.methods.releases("wine", "answers")
    assert len(releases) == 4, "two shards, of three and one"
    three, one = (tabpate.sizes()["tabpate_answer_queries"][f"wine/{shard}"].work for shard in (0, 1))
    assert three == pytest.approx(3 * one)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 10.0])
@pytest.mark.parametrize(("dataset", "task"), [("wine", "classification"), ("diabetes", "regression")])
def test_queries_that_are_asked_are_those_that_the_budget_pays_for(tabpate, epsilon, dataset, task):
    settings = {"teachers": 50, "queries": 5000, "threshold": 30.0, "sigma1": 24.0, "sigma2": 12.0}
    target = Column("target", ("no", "yes") if task == "classification" else (0.0, 1.0))
    public = Public("toy", "made up", 300, task, (Column("a", (0.0, 1.0)),), target)
    exact = planned(Settings(**settings), Budget(epsilon, tabpate.config["delta"]), public).most_queries(public)
    asked = TabpateSizes(tabpate).asked(settings, dataset, epsilon)
    assert asked == pytest.approx(exact, rel=0.02, abs=2)
    assert TabpateSizes(tabpate).asked(settings | {"threshold": None}, dataset, epsilon) == 5000
    fitted = settings | {"threshold": None, "sigma2": None, "candidates": [0.0, 0.2]}
    assert TabpateSizes(tabpate).asked(fitted, dataset, epsilon) == 5000, "noise is fitted to the queries"


def test_poisons_are_a_release_for_each_target_and_number(tabpate):
    def work():
        return tabpate.sizes()["tabpate_poison_shadows"]["wine/0"].work

    section = tabpate.shadow["poisoned"]
    section |= {"targets": 2, "budgets": [1]}
    before = work()
    section["targets"] = 20
    assert work() > 3 * before
    more = work()
    section["budgets"] = [1, 2, 3]
    assert work() > 1.5 * more
    at_ten = work()
    tabpate.shadow["epsilons"] = [1.0, 2.0, 4.0]
    assert work() == at_ten, "epsilons of the other attack are not those of the poisons"


def test_poisons_of_the_papers_run_are_longer_than_its_shadows(tmp_path, monkeypatch):
    """What a shadow context costs is paid for each of twenty targets and four numbers of poisons."""
    monkeypatch.chdir(tmp_path)
    sizes = Tabpate(RunConfig(load("paper"), PROJECT)).sizes()
    shadows, poisons = (sizes[f"tabpate_{name}_shadows"]["credit-g/0"] for name in ("release", "poison"))
    assert poisons.seconds > 10 * shadows.seconds
