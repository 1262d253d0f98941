"""Look-ups of rules/ltmia/ in a small config: combinations, jobs, files, sizes."""

from types import SimpleNamespace

import pytest
import yaml
from conftest import PROJECT, load

from memaudit.attacks.learned_selection import NULL_SHARE
from memaudit.attacks.token_features import channels, row_type
from memaudit.common.errors import AuditError
from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies import ltmia_lookups
from memaudit.workflow.studies.ltmia_lookups import Ltmia, row_bytes

TRAINING = [{"models": ["gpt2", "opt"], "corpora": ["docs-scipy"], "tuning": "full"}]
HELD_OUT = [{"models": ["mamba2"], "corpora": ["code-numpy", "docs-pandas", "planted"], "tuning": "lora"}]
SHIFTED = {
    "planted": {"members": "docs-scipy", "nonmembers": "docs-sympy"},
    "unused": {"members": "a", "nonmembers": "b"},
}
PARTS = {"pretraining": 7, "selection": 5, "member": 100, "nonmember": 200}


@pytest.fixture
def run():
    """The default config with two base models to learn from, one held out, and no controls."""
    run = RunConfig(load(), PROJECT)
    run.config["ltmia"] |= {"training": TRAINING, "held_out": HELD_OUT, "controls": {}, "shifted": SHIFTED}
    run.config["ltmia"] |= {"fpr": [0.01, 0.001], "targets_per_job": 2}
    run.config["ltmia"]["texts"] |= {"parts": PARTS, "length": 64}
    return run


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


def test_work_is_that_of_the_passes_of_each_jobs_own_targets(ltmia):
    one = 2 * 128 * (12 * 128 * 2 + ltmia.config["texts"]["vocabulary"]) * 64  # both models have 2 layers of 128
    sizes, memory = ltmia.sizes(), one / 128 * 24
    assert sizes["ltmia_prepare_model"]["gpt2"] == size(3 * 7 * 4 * one, one / 128, 0, one / 128 * 20)
    epochs = ltmia.config["tunings"]["full"]["epochs"]
    targets = sizes["ltmia_finetune_targets"]
    assert targets["gpt2/0"] == size((epochs * (3 * 100 + 5) + 2 * 300) * one, 300 * 64, 0, memory)
    tuned = (3 * 100 + 5) * ltmia.config["tunings"]["lora"]["epochs"]
    ltmia.config["baselines"]["names"] = ["dc_pdd", "recall"]  # three passes more of what is judged
    adapted = ltmia.sizes()["ltmia_finetune_targets"]
    assert adapted["mamba2/0"] == size(2 * (tuned + 5 * 300) * one, 2 * 300 * 64, 0, one / 128 * 8)
    assert adapted["mamba2/1"].work == adapted["mamba2/0"].work / 2
    assert targets.keys() == {"gpt2/0", "opt/0", "mamba2/0", "mamba2/1"}
    assert sizes["ltmia_train_attack"].keys() == ltmia.config["classifiers"].keys()


def test_work_grows_with_the_weights_of_a_fetched_model_and_it_is_not_trained_before(ltmia):
    ltmia.models = ["gpt2-small", "pythia-6.9b"]
    ltmia.targets = [[model, "docs-scipy", "full"] for model in ltmia.models]
    sizes = ltmia.sizes()
    small, large = (sizes["ltmia_finetune_targets"][f"{model}/0"] for model in ltmia.models)
    assert large.work / small.work == large.forward / small.forward == pytest.approx(6.86e9 / 1.24e8)
    assert large.written == small.written
    assert sizes["ltmia_prepare_model"]["pythia-6.9b"] == size(0, 6.86e9, 0, 4 * 6.86e9)


def test_a_job_asks_for_the_memory_of_its_model_beside_what_grows(ltmia):
    ltmia.models = ["gpt2-small", "pythia-6.9b"]
    ltmia.targets = [["gpt2-small", "docs-scipy", "lora"], ["pythia-6.9b", "docs-scipy", "full"]]
    small, large = (SimpleNamespace(model=model, shard="0") for model in ltmia.models)
    assert ltmia.target_memory(small) == 8 * 124
    assert ltmia.target_memory(large) == 24 * 6860
    assert ltmia.base_memory(large) == 4 * 6860
    assert ltmia.beside == 8000


def test_the_attack_asks_for_the_texts_of_one_of_its_nulls_and_the_plan_counts_them(ltmia):
    attack, other = (SimpleNamespace(classifier=name) for name in ("transformer", "logistic"))
    assert row_bytes(64) == row_type(64, len(channels())).itemsize
    assert ltmia_lookups.NULL_SHARE == NULL_SHARE
    ltmia.config["texts"]["parts"] = PARTS | {"member": 10000, "nonmember": 20000}
    copied = 0.25 * 2 * 30000 * 0.9 * row_bytes(64)
    assert ltmia.null_memory(attack) == round(copied / 10**6)
    assert ltmia.sizes()["ltmia_train_attack"]["transformer"].forward == pytest.approx(copied)
    assert ltmia.null_memory(other) == 0


def test_jobs_of_all_corpora_or_targets_ask_for_the_memory_of_their_counts_and_the_plan_has_the_same(ltmia):
    for name in ltmia.corpora:
        ltmia.run.config["datasets"][name]["characters"] = 10**7
    ltmia.run.config["datasets"][ltmia.corpora[0]]["characters"] = None
    ltmia.config["diversity"] |= {"draws": 3, "combinations": [1, 2]}
    assert ltmia.corpora_memory(None) == 25 * (60 + 3 * 10)
    assert ltmia.judging_memory(None) == round(4000 * 5 * 300 / 10**6)
    assert ltmia.sensitivity_memory(None) == round(1000 * 3 * 2 * 3 * 300 / 10**6)
    sizes = ltmia.sizes()
    assert sizes["ltmia_prepare_corpora"][""].forward == 25 * 90 * 10**6
    assert sizes["ltmia_judge_attacks"][""].forward == 4000 * 5 * 300
    assert sizes["ltmia_judge_sensitivity"]["diversity"].forward == 1000 * 3 * 2 * 3 * 300


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
