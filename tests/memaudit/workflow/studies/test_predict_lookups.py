"""Look-ups of rules/predict/ on settings of every kind of data and network, and of the section `own`."""

import pytest
from conftest import PROJECT
from predict_study import LLAMA, QUESTIONS, setting, settings, study, wildcards

from memaudit.common.errors import AuditError
from memaudit.workflow.studies.predict_lookups import ANSWER, MEMORY


@pytest.fixture
def predict(tmp_path, monkeypatch):
    return study(settings(), tmp_path, monkeypatch)


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
    held = {case: predict.job_sizes.judge(one).held for case, one in predict.settings.items()}
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


def test_tables_and_models_are_fetched_once(predict):
    sizes = predict.sizes()
    assert list(sizes["data_fetch_table"]) == ["wine"]
    assert sizes["data_split_records"] == {}
    assert list(sizes["models_fetch_checkpoint"]) == ["tabicl-small"]


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
