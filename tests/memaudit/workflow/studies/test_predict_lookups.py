"""Look-ups of rules/predict/ on settings of every kind of data and network, and of the section `own`."""

from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.predict_lookups import ANSWER, MEMORY, PROJECTIONS, Predict

WINE = {"kind": "table", "dataset": "wine"}
QUESTIONS = {"kind": "table", "dataset": "wine", "questions": {"features": 3, "bins": 4}}
LLAMA = {"family": "llama", "width": 16, "layers": 2, "heads": 2, "inner": 32}
LLAMA |= {"pretraining": {"steps": 20, "batch": 16, "learning_rate": 0.01}}
TRAINING = {"epochs": 6.0, "batch": 16, "learning_rate": 0.01, "every": 0.5, "until": 4.0, "later": 2}
# The untrained model, one each half epoch up to 4, and 2 later ones.
CHECKPOINTS = 11


def setting(data, network, **others):
    """A setting of 8 shadow models in shards of 3, 4 of them targets, unless told otherwise."""
    plain = {"label_noise": 0.0, "canaries": 0, "models": 8, "targets": 4, "shard": 3, "max_records": None}
    return plain | {"data": data, "network": network, "training": TRAINING, "interrupt": "closest"} | others


def settings():
    return {
        "mlp": setting(WINE, {"kind": "mlp", "width": 16, "depth": 3}, canaries=10),
        "lora": setting(QUESTIONS, {"kind": "text", "small": LLAMA, "adapter": {"rank": 2}}, max_records=60),
        "in_context": setting(WINE, {"kind": "in_context", "model": "tabicl-small", "context": 40}),
    }


def study(chosen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load("smoke"), PROJECT)
    run.config["predict"] |= {"cases": list(chosen), "settings": chosen, "fpr": [0.1], "tpr": [0.75], "drop": 0.95}
    run.config["predict"] |= {"memorized": 4.0, "replicates": 20}
    return Predict(run)


@pytest.fixture
def predict(tmp_path, monkeypatch):
    return study(settings(), tmp_path, monkeypatch)


def wildcards(case):
    return SimpleNamespace(case=case)


def test_a_run_without_settings_does_not_have_the_study(tmp_path, monkeypatch):
    empty = study({}, tmp_path, monkeypatch)
    assert not empty.present
    assert (empty.sizes(), empty.model_uses(), empty.results["predictors"]) == ({}, {}, [])


def test_results_are_by_setting_or_of_the_study(predict):
    assert predict.results["roc"] == [f"<results>/scores/predict/{name}/roc.parquet" for name in settings()]
    assert predict.results["theorem"] == ["<results>/scores/predict/theorem.parquet"]
    assert predict.results["learned"] == ["<results>/scores/predict/learned.parquet"]


def test_a_predictor_is_learned_from_all_models_of_all_settings(predict):
    assert predict.of_all_settings("scores.nc") == [
        f"<results>/signals/predict/{name}/scores.nc" for name in settings()
    ]
    of_mlp = [f"<results>/signals/predict/mlp/{shard}.signals.nc" for shard in range(3)]
    assert predict.all_signals[:3] == of_mlp
    assert len(predict.all_signals) == 9
    assert predict.sources == {"mlp": "wine", "lora": "wine", "in_context": "wine"}


def test_readers_see_every_setting_in_a_line(predict):
    mlp, lora, in_context = predict.names["settings"]
    assert mlp == [
        *("mlp", "wine", "MLP, 3 layers of 16, from scratch", "all", 8, 4, 6.0, 16, 0.01, 0.0, 10, "closest"),
    ]
    assert lora[1:4] == ["wine as questions", "llama, 2 layers of 16, LoRA of rank 2", 60]
    assert in_context[2] == "tabicl-small, all weights tuned"


def test_a_line_names_images_and_packages(tmp_path, monkeypatch):
    wrn = {"kind": "wrn", "depth": 10, "widen": 2, "base": 8, "shape": [3, 32, 32]}
    chosen = {
        "images": setting({"kind": "cifar10", "path": "cifar"}, wrn),
        "packages": setting(
            {"kind": "docstrings", "packages": ["numpy", "pandas"], "words": 16}, {"kind": "text", "small": LLAMA}
        ),
    }
    images, packages = study(chosen, tmp_path, monkeypatch).names["settings"]
    assert images[1:3] == ["cifar10", "WRN10-2, 8 channels, from scratch"]
    assert packages[1:3] == ["docstrings, numpy, pandas", "llama, 2 layers of 16, all weights tuned"]


def test_metrics_are_rates_at_the_configured_rates(predict):
    assert predict.names["metrics"] == ["auc", "tpr@0.1", "fpr@tpr0.75"]
    assert predict.names["metric_differences"] == ["auc difference", "tpr@0.1 difference", "fpr@tpr0.75 difference"]


def test_planted_records_are_shown_where_there_are_some(predict, tmp_path, monkeypatch):
    assert predict.names["planted"]
    assert not study({"lora": settings()["lora"]}, tmp_path, monkeypatch).names["planted"]
    assert study({"lora": settings()["lora"] | {"label_noise": 0.1}}, tmp_path, monkeypatch).names["planted"]


def test_inputs_are_the_table_or_the_users_files_and_a_key(predict, tmp_path, monkeypatch):
    assert predict.table("schema.json")(wildcards("mlp")) == "<results>/data/wine/schema.json"
    assert (predict.key(wildcards("mlp")), predict.source(wildcards("mlp"))) == ([], [])
    wrn = {"kind": "wrn", "depth": 10, "widen": 1, "base": 8, "shape": [3, 32, 32]}
    folder = tmp_path / "cifar"
    images = study({"images": setting({"kind": "cifar10", "path": str(folder)}, wrn)}, tmp_path, monkeypatch)
    assert images.table("schema.json")(wildcards("images")) == []
    assert images.key(wildcards("images")) == "<results>/data/id.key"
    # The job says what is missing.
    assert images.source(wildcards("images")) == []
    folder.mkdir()
    (folder / "data_batch_1.bin").touch()
    assert images.source(wildcards("images")) == ["cifar/data_batch_1.bin"]
    assert images.setting("data", "models")(wildcards("images")) == {
        "data": {"kind": "cifar10", "path": "cifar"},
        "models": 8,
    }
    # The config keeps the path as the user wrote it.
    assert images.settings["images"]["data"]["path"] == str(folder)


def test_a_model_of_the_catalogue_is_an_input_and_its_tokenizer_with_questions(tmp_path, monkeypatch):
    large = setting(QUESTIONS, {"kind": "text", "small": None, "model": "mistral-7b", "adapter": None})
    predict = study(settings() | {"large": large}, tmp_path, monkeypatch)
    assert predict.models == ["tabicl-small", "mistral-7b"]
    assert predict.model("weights")(wildcards("mlp")) == []
    assert predict.model("weights")(wildcards("in_context")) == "<results>/models/tabicl-small/weights"
    assert predict.tokenizer("weights")(wildcards("in_context")) == []
    assert predict.tokenizer("weights")(wildcards("large")) == "<results>/models/mistral-7b/weights"


def test_training_asks_for_the_memory_of_its_language_model(tmp_path, monkeypatch):
    whole = setting(QUESTIONS, {"kind": "text", "small": None, "model": "mistral-7b", "adapter": None})
    adapted = setting(QUESTIONS, {"kind": "text", "small": None, "model": "mistral-7b", "adapter": {"rank": 8}})
    predict = study(settings() | {"whole": whole, "adapted": adapted}, tmp_path, monkeypatch)
    assert predict.training_memory(wildcards("mlp")) == MEMORY
    # Weights of two copies in four bytes; of a whole training gradients and two moments, too.
    assert predict.training_memory(wildcards("adapted")) == MEMORY + round(2 * 4 * 7.24e3)
    assert predict.training_memory(wildcards("whole")) == MEMORY + round(5 * 4 * 7.24e3)


def test_judging_asks_for_the_memory_of_the_answers_that_it_reads_at_once(predict):
    held = {case: predict._judge_size(one).held for case, one in predict.settings.items()}
    largest = max(held, key=held.get)
    assert predict.judging_memory({"case": largest}) == MEMORY // 2 + round(ANSWER * held[largest] / 1e6)
    assert predict.judging_memory({}) == predict.judging_memory({"case": largest})


def test_targets_are_the_first_models_and_stand_in_the_first_shards(predict):
    folder = "<results>/signals/predict/mlp"
    assert predict.signals(wildcards("mlp")) == [f"{folder}/{shard}.signals.nc" for shard in range(3)]
    assert predict.target_signals(wildcards("mlp")) == [f"{folder}/{shard}.signals.nc" for shard in range(2)]
    assert predict.target_states(wildcards("mlp")) == [f"{folder}/{shard}.states.nc" for shard in range(2)]
    assert predict.setting_value("targets")(wildcards("mlp")) == 4
    assert predict.keys("drop", "memorized") == {"drop": 0.95, "memorized": 4.0}


def test_trainings_are_sized_by_passes_over_records_and_checkpoints(predict):
    sizes = predict.sizes()
    records = 178 + 10
    trained = sizes["predict_train_shadows"]["mlp/0"]
    assert trained.written == trained.held == 3 * records * CHECKPOINTS
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


def test_only_small_language_models_are_pretrained_here(predict):
    prepared = predict.sizes()["predict_prepare_setting"]
    assert (prepared["mlp"].work, prepared["mlp"].written) == (0, 188 * 8)
    # Three passes a step; four tokens a record: three features and the label.
    assert prepared["lora"].work == 3 * 20 * 16 * (2 * 2 * 16 * (4 * 16 + 3 * 32) * 4)


def test_scores_are_sized_by_projections_and_replicates(predict):
    sizes = predict.sizes()
    scored = sizes["predict_score_records"]["lora"]
    assert (scored.work, scored.written, scored.held) == (60 * 4 * CHECKPOINTS * 50, 60 * 4 * CHECKPOINTS, 60 * 50)
    predict.config["scoring"]["directions"] = 10**9
    assert predict.sizes()["predict_score_records"]["lora"].held == PROJECTIONS
    learned = sizes["predict_learn_predictor"][""]
    assert learned.work == (60 + predict._records(settings()["mlp"]) + predict._records(settings()["in_context"])) * 80
    judged = sizes["predict_judge_predictors"]["lora"]
    assert (judged.work, judged.held) == (60 * CHECKPOINTS * 20 * 4, 60 * CHECKPOINTS * 8)


def test_tables_and_models_are_fetched_once(predict):
    sizes = predict.sizes()
    assert list(sizes["data_fetch_table"]) == ["wine"]
    assert sizes["data_split_records"] == {}
    assert list(sizes["models_fetch_checkpoint"]) == ["tabicl-small"]


def test_records_that_nobody_has_counted_are_those_of_the_source_or_the_limit(predict):
    assert predict._records(setting({"kind": "cifar10"}, {})) == 60000
    assert predict._records(setting({"kind": "choices", "rows": 900}, {}, max_records=500, canaries=5)) == 505
    assert predict._records(setting({"kind": "docstrings"}, {}, max_records=180)) == 180


def test_a_model_that_two_settings_tune_is_listed_once_for_each(tmp_path, monkeypatch):
    chosen = {"first": settings()["in_context"], "second": settings()["in_context"]}
    uses = study(chosen, tmp_path, monkeypatch).model_uses()
    expected = [{"where": f"predict, setting {name}", "rows": 40, "features": 13} for name in chosen]
    assert uses == {"tabicl-small": expected}


def test_without_a_section_no_ranking_has_its_rule_and_the_target_says_so(predict):
    assert predict.own_name == "-"
    with pytest.raises(AuditError, match=r"own: this config has no section `own`; config/README\.md says what"):
        predict.own_target(None)


def test_a_ranking_of_own_records_has_the_users_files(predict, tmp_path):
    predict.own = {"name": "mine", "records": str(tmp_path / "records.parquet"), "states": None, "case": "mlp"}
    predict.own |= {"classes": ["a", "b"], "scoring": {"directions": 7}}
    assert predict.own_name == "mine"
    assert predict.own_target(None)[1] == "<results>/own/mine/risk.csv"
    with pytest.raises(AuditError, match=r"own/records: there is no file .*records\.parquet; put the file there"):
        predict.own_file("records")(None)
    (tmp_path / "records.parquet").touch()
    assert predict.own_file("records")(None) == "records.parquet"
    assert predict.own_file("states")(None) == []
    assert predict.own_recommendation(None) == "<results>/scores/predict/mlp/recommended.json"
    predict.own |= {"case": None, "predictor": "learned"}
    assert (PROJECT / "resources/recommended.json").samefile(predict.own_recommendation(None))
    assert predict.own_predictor(None) == "learned"
    assert (predict.own_classes(None), predict.own_scoring("directions")(None)) == (["a", "b"], 7)
