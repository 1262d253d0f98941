"""Sizes of the jobs of rules/ltmia/: passes of base models and targets, classifiers, memory by the counts of texts."""

import pytest
from conftest import PROJECT, load
from ltmia_study import PARTS, small_run

from memaudit.attacks.learned_selection import NULL_SHARE
from memaudit.attacks.token_features import channels, row_type
from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies import ltmia_sizes
from memaudit.workflow.studies.ltmia_lookups import Ltmia
from memaudit.workflow.studies.ltmia_sizes import row_bytes


@pytest.fixture
def ltmia(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Ltmia(small_run())


def test_work_is_that_of_the_passes_of_each_jobs_own_targets(ltmia):
    one = 2 * 128 * (12 * 128 * 2 + ltmia.config["texts"]["vocabulary"]) * 64  # both models have 2 layers of 128
    sizes, memory = ltmia.sizes(), one / 128 * 24
    assert sizes["ltmia_prepare_model"]["gpt2"] == size(
        3 * 7 * 4 * one, one / 128, 0, one / 128 * 20, state=32 * one / 128
    )
    epochs = ltmia.config["tunings"]["full"]["epochs"]
    targets = sizes["ltmia_finetune_targets"]
    state = 300 * row_bytes(64) + 32 * one / 128
    assert targets["gpt2/0"] == size((epochs * (3 * 100 + 5) + 2 * 300) * one, 300 * 64, 0, memory, state=state)
    tuned = (3 * 100 + 5) * ltmia.config["tunings"]["lora"]["epochs"]
    ltmia.config["baselines"]["names"] = ["dc_pdd", "recall"]  # three passes more of what is judged
    adapted = ltmia.sizes()["ltmia_finetune_targets"]
    features = 2 * 300 * row_bytes(64)
    assert adapted["mamba2/0"] == size(2 * (tuned + 5 * 300) * one, 2 * 300 * 64, 0, one / 128 * 8, state=features)
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
    assert sizes["ltmia_fetch_model"]["pythia-6.9b"] == size(0, stored=4 * 6.86e9)


def test_states_of_all_targets_of_a_job_stay_on_the_disk_until_it_ends(ltmia):
    """Weights, two moments, and the best weights, in fp32; one more while a state takes another's place."""
    features, weights = 300 * row_bytes(64), ltmia.run.weights("language_models", "pythia-6.9b", 1024)

    def states():
        return (ltmia.sizes()["ltmia_finetune_targets"]["pythia-6.9b/0"].state - features * len(ltmia.targets)) / 16

    ltmia.models, ltmia.training = ["pythia-6.9b"], []
    ltmia.targets = [["pythia-6.9b", "docs-scipy", "full"]]
    ltmia.config["baselines"]["names"] = []
    assert states() == pytest.approx(2 * weights)
    ltmia.config["baselines"]["names"] = ["spv"]
    assert states() == pytest.approx(3 * weights)
    ltmia.training = ltmia.targets  # has no further baselines, so that no second model is tuned
    assert states() == pytest.approx(2 * weights)
    ltmia.targets = [*ltmia.targets, ["pythia-6.9b", "docs-scipy", "strong"]]
    ltmia.training = ltmia.targets
    assert states() == pytest.approx(3 * weights)
    ltmia.targets = [["pythia-6.9b", "docs-scipy", tuning] for tuning in ("lora", "untrained")]
    assert states() == 0


def test_the_plan_counts_the_texts_of_one_of_the_attacks_nulls(ltmia):
    assert row_bytes(64) == row_type(64, len(channels())).itemsize
    assert ltmia_sizes.NULL_SHARE == NULL_SHARE
    ltmia.config["texts"]["parts"] = PARTS | {"member": 10000, "nonmember": 20000}
    copied = 0.25 * 2 * 30000 * 0.9 * row_bytes(64)
    assert ltmia.sizes()["ltmia_train_attack"]["transformer"].forward == pytest.approx(copied)
    assert ltmia.sizes()["ltmia_train_attack"]["logistic"].forward == 0


def test_jobs_of_all_corpora_or_targets_take_the_memory_of_their_counts(ltmia):
    for name in ltmia.corpora:
        ltmia.run.config["datasets"][name]["characters"] = 10**7
    ltmia.run.config["datasets"][ltmia.corpora[0]]["characters"] = None
    ltmia.config["diversity"] |= {"draws": 3, "combinations": [1, 2]}
    sizes = ltmia.sizes()
    assert sizes["ltmia_prepare_corpora"][""].forward == 25 * 90 * 10**6
    assert sizes["ltmia_judge_attacks"][""].forward == 4000 * 5 * 300
    assert sizes["ltmia_judge_sensitivity"]["diversity"].forward == 1000 * 3 * 2 * 3 * 300
    assert sizes["ltmia_judge_sensitivity"]["importance"].forward == 1000 * 4 * 3 * 200


def test_work_of_judging_is_the_replicates_of_all_scores(ltmia):
    ltmia.config |= {"replicates": 70, "importance": {"repeats": 2, "texts": 50}}
    ltmia.config["diversity"] |= {"draws": 3, "combinations": [1, 2]}
    sizes = ltmia.sizes()
    assert sizes["ltmia_judge_attacks"][""].work == 70 * 5 * 300
    assert sizes["ltmia_judge_sensitivity"]["diversity"].work == 70 * 3 * 2 * 3 * 300
    assert sizes["ltmia_judge_sensitivity"]["importance"].work == 70 * 3 * 50 * (1 + 3 * 2)


def test_work_of_a_classifier_is_that_of_its_choice_seeds_and_nulls_and_of_its_scores(ltmia):
    config = ltmia.config
    config |= {"validation": 0.1, "test": 0.2, "seeds": 4, "shuffles": 6, "folds": 2}
    config["training"] = [{"models": ["gpt2", "opt"], "corpora": ["docs-scipy", "docs-sympy"], "tuning": "full"}]
    study = Ltmia(ltmia.run)
    for name in ("transformer", "logistic"):
        config["classifiers"][name]["training"] |= {"epochs": 3, "cosine": False}
        config["classifiers"][name]["choice"] = {"epochs": [2, 5], "weight_decay": [], "clamp": [3.0, 6.0]}
    # A fold leaves out one of four combinations, and keeps the one of another model and corpus.
    choice = 2 * 2 * (3 * 5 * 210 + 6 * (210 + 30))
    seeds = 4 * 4 * (3 * 5 * 210 + 6 * 30)
    nulls = 6 * 4 * (3 * 5 * 210 + 6 * 30) / 4 + 6 * 3 * 300
    scores = 4 * (4 * 60 + 3 * 300)
    found = {
        name: one.work / study.job_sizes.operations(name) for name, one in study.sizes()["ltmia_train_attack"].items()
    }
    assert found["logistic"] == pytest.approx(choice + seeds + scores)
    assert found["transformer"] == pytest.approx(choice + seeds + nulls + scores)
    before = study.sizes()["ltmia_train_attack"]["transformer"]
    config["classifiers"]["transformer"]["architecture"]["width"] *= 4
    after = study.sizes()["ltmia_train_attack"]["transformer"]
    assert after.work > 4 * before.work
    assert (after.seconds, after.forward) == (before.seconds, before.forward)


def test_work_of_few_combinations_and_of_permutations_is_that_of_their_texts(ltmia):
    ltmia.config |= {"validation": 0.1, "test": 0.2, "seeds": 4, "importance": {"repeats": 2, "texts": 50}}
    ltmia.config["diversity"] |= {"samples": 90, "combinations": [1, 2], "draws": 3}
    ltmia.config["diversity"]["training"] |= {"epochs": 7}
    sizes, one = ltmia.sizes(), ltmia.job_sizes.operations("transformer")
    trained = sum(3 * 7 * 90 + 8 * count * 30 for count in (1, 2))
    scored = sum(count * 60 + 3 * 300 for count in (1, 2))
    assert sizes["ltmia_measure_diversity"][""].work / one == pytest.approx(3 * (trained + scored))
    assert sizes["ltmia_permute_features"][""].work / one == pytest.approx(4 * 3 * 50 * (1 + 3 * 2))
    ltmia.config["diversity"]["combinations"] = []
    assert ltmia.sizes()["ltmia_measure_diversity"][""].work == 0


def test_the_attack_of_the_papers_config_is_planned_with_the_operations_of_its_trainings(tmp_path, monkeypatch):
    """Some 1e16: 7e7 operations for each of 540,000 texts, thrice, in 30 epochs of five seeds."""
    monkeypatch.chdir(tmp_path)
    study = Ltmia(RunConfig(load("paper"), PROJECT))
    attack, linear = (study.sizes()["ltmia_train_attack"][name] for name in ("transformer", "logistic"))
    assert 5 * 30 * 3 * 540_000 * 7e7 < attack.work < 4 * (5 * 30 * 3 * 540_000 * 7e7)
    assert linear.work < 1e-3 * attack.work
