"""Sizes of the jobs of rules/ltmia/: passes of base models and targets, classifiers, memory by the counts of texts."""

import pytest
from ltmia_study import PARTS, small_run

from memaudit.attacks.learned_selection import NULL_SHARE
from memaudit.attacks.token_features import channels, row_type
from memaudit.workflow.job_costs import size
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
