"""Sizes of the jobs of rules/predict/ on settings of every kind of data and network."""

import pytest
from predict_study import CHECKPOINTS, LLAMA, setting, settings, study, wildcards

from memaudit.workflow.studies.predict_sizes import PROJECTIONS


@pytest.fixture
def predict(tmp_path, monkeypatch):
    return study(settings(), tmp_path, monkeypatch)


def test_trainings_are_sized_by_passes_over_records_and_checkpoints(predict):
    sizes = predict.sizes()
    records = 178 + 10
    trained = sizes["predict_train_shadows"]["mlp/0"]
    assert trained.held == 3 * records * CHECKPOINTS
    # Losses and gaps; hidden states of three targets, three layers of 16.
    written = [sizes["predict_train_shadows"][f"mlp/{shard}"].written for shard in range(3)]
    assert written == [(2 * 3 + targets * 3 * 16) * records * CHECKPOINTS for targets in (3, 1, 0)]
    assert trained.work == 3 * records * (1.5 * 6 + CHECKPOINTS) * 2 * 16 * (13 + 2 * 16)
    assert list(sizes["predict_train_shadows"])[:3] == ["mlp/0", "mlp/1", "mlp/2"]
    of_batch = predict.run.passes("tabicl-small").operations(40, 16, 13)
    in_context = sizes["predict_train_shadows"]["in_context/0"].work
    assert in_context == pytest.approx(3 * 178 * (1.5 * 6 + CHECKPOINTS) * of_batch / 16)


def test_work_with_a_language_model_grows_with_its_weights_and_the_tokens_of_the_prompts(tmp_path, monkeypatch):
    """The plan alone reads numbers of questions and of tokens, and no job has them among its params."""
    data = {"kind": "choices", "path": "mmlu.parquet", "rows": 500, "tokens": 300}
    network = {"kind": "text", "model": "mistral-7b", "small": None, "adapter": {"rank": 8}}
    chosen = {
        "mistral": setting(data, network),
        "longer": setting(data | {"tokens": 600}, network),
        "small": setting(data, network | {"model": "text-small"}),
    }
    predict = study(chosen, tmp_path, monkeypatch)
    trained = {name: size.work for name, size in predict.sizes()["predict_train_shadows"].items()}
    assert trained["mistral/0"] == pytest.approx(3 * 500 * (1.5 * 6 + CHECKPOINTS) * 2 * 7.24e9 * 300)
    assert trained["longer/0"] == 2 * trained["mistral/0"]
    assert trained["small/0"] / trained["mistral/0"] == pytest.approx(128 * (12 * 128 * 4 + 1024) / 7.24e9)
    assert predict.setting("data")(wildcards("mistral"))["data"] == {"kind": "choices", "path": "mmlu.parquet"}


def test_hidden_states_are_those_of_all_layers(predict, tmp_path, monkeypatch):
    sizes = predict.job_sizes
    assert sizes.states({"kind": "wrn", "depth": 16, "widen": 4, "base": 16}) == 2 * 4 * (16 + 32 + 64)
    assert sizes.states({"kind": "in_context", "model": "tabicl-small"}) == 6 * 4 * 32
    text = {"kind": "text", "small": None}
    assert sizes.states(text | {"model": "text-small"}) == 4 * 128
    assert sizes.states(text | {"model": "mistral-7b"}) == 32 * 4096
    assert sizes.states(text | {"model": "olmo-1b"}) == 0
    assert sizes.states(settings()["lora"]["network"]) == LLAMA["layers"] * LLAMA["width"]


def test_scores_are_those_of_all_layers(predict):
    layers = predict.job_sizes.layers
    assert layers(settings()["mlp"]["network"]) == 3
    assert layers({"kind": "wrn", "depth": 16, "widen": 4, "base": 16}) == 6
    assert layers({"kind": "in_context", "model": "tabicl-small"}) == 6
    text = {"kind": "text", "small": None}
    assert [layers(text | {"model": model}) for model in ("text-small", "mistral-7b", "olmo-1b")] == [4, 32, 0]
    assert layers(settings()["lora"]["network"]) == LLAMA["layers"]
    few = predict.sizes()["predict_score_records"]["mlp"].work
    predict.settings["mlp"]["network"]["depth"] = 30
    assert predict.sizes()["predict_score_records"]["mlp"].work / few == pytest.approx(
        (CHECKPOINTS + 31) / (CHECKPOINTS + 4)
    )


def test_a_job_keeps_hidden_states_twice_until_it_ends_and_the_state_of_a_model_that_is_tuned_whole(
    tmp_path, monkeypatch
):
    data = {"kind": "choices", "path": "mmlu.parquet", "rows": 500, "tokens": 300}
    network = {"kind": "text", "model": "mistral-7b", "small": None, "adapter": {"rank": 8}}
    chosen = {"adapted": setting(data, network), "whole": setting(data, network | {"adapter": None})}
    sizes = study(chosen, tmp_path, monkeypatch).sizes()["predict_train_shadows"]
    assert sizes["adapted/0"].state == 4 * sizes["adapted/0"].written > 4 * 3 * 500 * CHECKPOINTS * 32 * 4096
    assert sizes["whole/2"].state - sizes["adapted/2"].state == pytest.approx(2 * 12 * 7.24e9)


def test_only_small_language_models_are_pretrained_here(predict):
    prepared = predict.sizes()["predict_prepare_setting"]
    assert (prepared["mlp"].work, prepared["mlp"].written) == (0, 188 * 8)
    # Three passes a step; four tokens a record: three features and the label.
    assert prepared["lora"].work == 3 * 20 * 16 * (2 * 2 * 16 * (4 * 16 + 3 * 32) * 4)


def test_scores_are_sized_by_projections_and_replicates(predict):
    sizes = predict.sizes()
    scored = sizes["predict_score_records"]["lora"]
    # The last layer at each checkpoint, both layers where training is interrupted, and what the network reads.
    each = CHECKPOINTS + 2
    assert (scored.work, scored.written, scored.held) == (60 * 4 * (each + 1) * 50, 60 * 4 * each, 60 * 50)
    predict.config["scoring"]["directions"] = 10**9
    assert predict.sizes()["predict_score_records"]["lora"].held == PROJECTIONS
    learned = sizes["predict_learn_predictor"][""]
    assert (
        learned.work
        == (60 + predict.job_sizes.records(settings()["mlp"]) + predict.job_sizes.records(settings()["in_context"]))
        * 80
    )
    judged = sizes["predict_judge_predictors"]["lora"]
    assert (judged.work, judged.held) == (60 * each * 20 * 4, 60 * CHECKPOINTS * 8)


def test_records_that_nobody_has_counted_are_those_of_the_source_or_the_limit(predict):
    assert predict.job_sizes.records(setting({"kind": "cifar10"}, {})) == 60000
    assert predict.job_sizes.records(setting({"kind": "choices", "rows": 900}, {}, max_records=500, canaries=5)) == 505
    assert predict.job_sizes.records(setting({"kind": "docstrings"}, {}, max_records=180)) == 180
