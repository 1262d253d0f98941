"""Look-ups of rules/tabpate/ in the smoke and the default config: files, attacked students, files, sizes."""

import os
from types import SimpleNamespace

import pytest
from conftest import PROJECT, load
from tabpate_study import small_study

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.tabpate_lookups import Tabpate


@pytest.fixture
def tabpate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_study()


def of(dataset):
    return SimpleNamespace(dataset=dataset)


def test_releases_are_every_method_epsilon_and_repeat_of_a_table(tabpate):
    both = [["as_published", epsilon, repeat] for epsilon in (1.0, 10.0) for repeat in (0, 1)]
    releases = tabpate.release_params("contexts")["releases"]
    assert releases(of("diabetes")) == both
    assert releases(of("wine")) == [*both, *(["as_published alpha 0.2", 1.0, repeat] for repeat in (0, 1))]
    assert len(tabpate.files("contexts")(of("wine"))) == 2
    assert tabpate.synthetic_files(of("diabetes")) == []
    assert tabpate.synthetic_files(of("wine")) == ["<results>/signals/tabpate/wine/synthetic/mst/1.0.parquet"]


def test_brainwash_attacks_methods_that_release_a_context_at_epsilons_of_its_own(tabpate):
    assert tabpate.attacked_pairs() == [["non_private", None], ["as_published", 1.0], ["query_time", 1.0]]
    assert tabpate.poisoned_pairs() == [["non_private", None], ["as_published", 10.0]]
    assert len(tabpate.shadow_files("shadows", 20)(of("wine"))) == 3


def test_views_know_which_tables_have_classes_and_which_are_attacked(tabpate):
    names = tabpate.names
    assert (names["classified"], names["regressed"], names["attacked"]) == (["wine"], ["diabetes"], ["wine"])
    assert names["classified_and_wilt"] == ["wine", "wilt"]
    assert names["arms_by_queries"] == ["as_published", "as_published alpha 0.2"]
    assert names["defences"][1][:5] == ["query_time", "Query-Time", "no", "answers only", "every answer"]


def test_views_name_tables_whose_bounds_were_chosen_in_view_of_the_data(tabpate):
    assert tabpate.names["bounds_from_data"] == "wine, diabetes"
    assert [row[0] for row in tabpate.names["public_facts"]] == ["wine", "diabetes"]
    assert tabpate.names["public_facts"][1][2] == "target, *"
    tabpate.config["datasets"] = ["credit-g", "vehicle"]
    assert tabpate.names["bounds_from_data"] == "no table"
    assert [row[2] for row in tabpate.names["public_facts"]] == [""], "vehicle has no facts yet"


def test_only_a_private_table_is_noted_in_a_ledger_and_not_that_of_an_audit(tabpate):
    assert tabpate.table["noted"](of("wine")) == []
    tabpate.run.config["datasets"]["wine"]["licence"] = "private"
    assert tabpate.table["noted"](of("wine")) == ["<results>/signals/tabpate/wine/noted.json"]
    assert tabpate.ledger(of("wine")) is None
    tabpate.run.config["release"] = {"ledger": "/of ours"}
    assert tabpate.ledger(of("wine")) == "/of ours"
    tabpate.run.config["audit"] = {"dataset": "wine"}
    assert tabpate.table["noted"](of("wine")) == []


def test_public_facts_are_the_projects_or_the_users(tabpate, monkeypatch):
    assert tabpate.public(of("wine")).endswith("config/public/wine.yaml")
    tabpate.run.config["datasets"]["wine"]["public"] = "~/facts.yaml"
    monkeypatch.setenv("HOME", "/home/me")
    assert os.path.abspath(tabpate.public(of("wine"))) == "/home/me/facts.yaml"


def test_synthesizers_are_refitted_as_their_arms_say_and_left_out_with_the_study(tabpate):
    params = tabpate.refit_params()
    assert params["method"](SimpleNamespace(synthesizer="mst")) == "mst"
    assert params["rounds"](SimpleNamespace(synthesizer="mst")) == 16
    assert tabpate.refit_files == ["<results>/signals/tabpate/refits/mst.parquet"]
    assert len(tabpate.results["synthesizers"]) == 1
    assert tabpate.names["audited_keys"] == ["dataset", "arm", "epsilon", "attack", "fpr"]
    tabpate.run.config["tabpate"]["datasets"] = []
    absent = Tabpate(tabpate.run)
    assert absent.results["synthesizers"] == absent.refit_files == absent.names["refitted_epsilons"] == []


def test_a_synthesizer_has_the_settings_of_its_table_and_epsilon(tabpate):
    tuned = {"mst": {"classification": {"1": {"settings": {"bins": 4, "rows": 77}}}}}
    tabpate.methods.all["mst"]["by_dataset"] = {"wine": {"columns": 3}}
    tabpate.methods._tuned = tuned
    job = SimpleNamespace(dataset="wine", synthesizer="mst", epsilon="1.0")
    assert tabpate.synthesizer_method(job) == "mst"
    assert tabpate.synthesizer(job)["by_epsilon"] == {"1": {"bins": 4, "rows": 77, "columns": 3}}
    assert [tabpate.synthesizer_setting(key)(job) for key in ("rows", "iterations")] == [77, 10]
    ((name, epsilon, settings),) = tabpate.synthetic_settings(job)
    assert (name, epsilon, settings["bins"], settings["columns"]) == ("mst", 1.0, 4, 3)
    assert tabpate.refit_params()["rounds"](job) == 16


@pytest.mark.parametrize("config", ["config", "tabpate", "paper"])
def test_the_alphas_of_table_3_reach_the_tables_of_a_run_at_every_epsilon(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load(config), PROJECT)
    methods, own = Tabpate(run).methods, {"california-housing": 0.21, "wine-quality": 0.38, "wine-quality-red": 0.38}
    for dataset in [*own, *run.config["tabpate"]["datasets"]]:
        for epsilon in run.config["tabpate"]["epsilons"]:
            settings = methods.settings("published_moments", dataset, epsilon)
            assert settings["alpha"] == own.get(dataset, 0.05), (dataset, epsilon)
