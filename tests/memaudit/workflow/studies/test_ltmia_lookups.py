"""Look-ups of rules/ltmia/ in a small config: combinations, jobs, files."""

from types import SimpleNamespace

import pytest
import yaml
from conftest import PROJECT
from ltmia_study import small_run

from memaudit.common.errors import AuditError
from memaudit.workflow.studies.ltmia_lookups import Ltmia


@pytest.fixture
def run():
    return small_run()


@pytest.fixture
def ltmia(run):
    return Ltmia(run)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_corpora_are_those_behind_the_shifted_ones_and_each_stands_once(ltmia):
    assert ltmia.models == ["gpt2", "opt", "mamba2"]
    assert ltmia.corpora == ["docs-scipy", "code-numpy", "docs-pandas", "docs-sympy"]
    assert list(ltmia.shifted) == ["planted"]


def test_a_rate_that_is_not_resolved_is_left_out(ltmia):
    assert ltmia.fprs == [0.01]
    assert ltmia.names["rates"] == ["tpr@0.01"]
    assert ltmia.names["other_published_rates"] == ["tpr@0.001"]


def test_files_of_held_out_targets_are_apart_from_those_that_classifiers_learn_from(ltmia):
    learnt, others = ltmia.files("npy", ltmia.training), ltmia.other_files("npy")
    assert learnt == [f"<results>/signals/ltmia/{model}/0.npy" for model in ("gpt2", "opt")]
    assert others == [f"<results>/signals/ltmia/mamba2/{shard}.npy" for shard in (0, 1)]


def test_the_null_is_the_attacks_alone_and_every_classifier_has_its_choice(ltmia):
    attack, other = (SimpleNamespace(classifier=name) for name in ("transformer", "logistic"))
    assert ltmia.shuffles(attack) == ltmia.config["shuffles"] > 0
    assert ltmia.shuffles(other) == 0
    assert ltmia.choice(other).keys() == {"folds", "epochs", "weight_decay", "clamp"}


def test_a_job_has_so_many_targets_and_its_files_hold_them(ltmia):
    job = SimpleNamespace(model="mamba2", shard="1")
    assert ltmia.targets_of_shard(job) == [["planted", "lora"]]
    assert ltmia.files("npy", ltmia.held_out) == [f"<results>/signals/ltmia/mamba2/{shard}.npy" for shard in (0, 1)]
    assert len(ltmia.files("parquet")) == 4


def test_targets_that_are_judged_have_further_baselines_and_those_that_are_learnt_from_have_none(ltmia):
    judged = SimpleNamespace(model="mamba2", shard="0")
    assert ltmia.judged_of_shard(judged) == ltmia.targets_of_shard(judged)
    assert ltmia.judged_of_shard(SimpleNamespace(model="gpt2", shard="0")) == []
    ltmia.config["baselines"]["names"] = []
    assert ltmia.judged_of_shard(judged) == []


def test_a_run_that_learns_from_nothing_leaves_the_study_out(run):
    run.config["ltmia"]["training"] = []
    study = Ltmia(run)
    assert not study.present
    assert (study.targets, study.sizes(), study.names["combinations"]) == ([], {}, [])


def test_ways_of_tuning_are_named_by_what_they_train(ltmia):
    nulls = {"untrained": "untrained", "other_texts": "other texts", "other_members": "other members"}
    assert ltmia.ways() == {"full": "full", "strong": "full", "lora": "lora"} | nulls


def test_a_job_asks_for_the_memory_of_its_model_beside_what_grows(ltmia):
    ltmia.models = ["gpt2-small", "pythia-6.9b"]
    ltmia.targets = [["gpt2-small", "docs-scipy", "lora"], ["pythia-6.9b", "docs-scipy", "full"]]
    small, large = (SimpleNamespace(model=model, shard="0") for model in ltmia.models)
    assert ltmia.target_memory(small) == 8 * 124
    assert ltmia.target_memory(large) == 24 * 6860
    assert ltmia.base_memory(large) == 4 * 6860
    assert ltmia.beside == 8000


def test_what_the_plan_counts_of_texts_and_corpora_is_what_jobs_ask_for(ltmia):
    attack, other = (SimpleNamespace(classifier=name) for name in ("transformer", "logistic"))
    ltmia.config["texts"]["parts"] = {"pretraining": 7, "selection": 5, "member": 10000, "nonmember": 20000}
    sizes = {rule: next(iter(jobs.values())) for rule, jobs in ltmia.sizes().items() if jobs}
    by_part = {part: one.forward for part, one in ltmia.sizes()["ltmia_judge_sensitivity"].items()}
    assert ltmia.null_memory(attack) == round(sizes["ltmia_train_attack"].forward / 10**6) > 0
    assert ltmia.null_memory(other) == 0
    assert ltmia.corpora_memory(None) == round(sizes["ltmia_prepare_corpora"].forward / 10**6) > 0
    assert ltmia.judging_memory(None) == round(sizes["ltmia_judge_attacks"].forward / 10**6) > 0
    for part, forward in by_part.items():
        assert ltmia.sensitivity_memory(SimpleNamespace(part=part)) == round(forward / 10**6) > 0


def test_the_null_of_other_texts_of_the_papers_config_trains_on_as_many_as_there_are_members():
    texts = yaml.safe_load((PROJECT / "config/paper.yaml").read_text(encoding="utf-8"))["ltmia"]["texts"]
    assert texts["parts"]["pretraining"] >= texts["parts"]["member"]


def test_files_of_the_users_own_are_named_where_they_are_missing(ltmia, tmp_path):
    with pytest.raises(AuditError, match=r"^ltmia/attack: target, base and texts are missing"):
        ltmia.verdicts(SimpleNamespace())
    (tmp_path / "model").mkdir()
    ltmia.config["attack"] = {"target": str(tmp_path / "model"), "texts": str(tmp_path / "none"), "nonmembers": None}
    with pytest.raises(
        AuditError, match=r"^ltmia/attack/texts: there is nothing at .*none; give the path of the texts"
    ):
        ltmia.own("texts")(SimpleNamespace())
    (tmp_path / "model" / "config.json").touch()
    assert ltmia.own("target", "config.json")(SimpleNamespace()).endswith("model/config.json")
    assert ltmia.own("nonmembers")(SimpleNamespace()) == []


def test_params_of_an_attack_on_ones_own_texts_are_there_without_one(ltmia):
    assert ltmia.own_params() == {"columns": None, "rate": None}
    ltmia.config["attack"] = {"columns": ["text"], "false_discovery_rate": 0.1}
    assert ltmia.own_params() == {"columns": ["text"], "rate": 0.1}
