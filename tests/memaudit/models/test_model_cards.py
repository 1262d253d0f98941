"""The committed small models: card, hash, size and benchmark belong together."""

import hashlib
import json

import pytest

from memaudit.common.io import read_json
from memaudit.models.model_cards import tabicl_card, text_card

MODELS = ("tabicl-small", "tabicl-small-regression")


@pytest.fixture(params=MODELS)
def product(project, request):
    folder = project / "resources" / request.param
    return folder, *(
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("model.json", "benchmark.json")
    )


def test_card_is_generated_from_the_committed_facts(product):
    folder, model, benchmark = product
    assert (folder / "README.md").read_text(encoding="utf-8") == tabicl_card(model, benchmark, folder.name)


def test_card_shows_the_numbers_of_the_benchmark(product):
    folder, model, benchmark = product
    mean = next(benchmark[key] for key in ("mean_auc", "mean_r2") if key in benchmark)
    mean["gradient boosting"] = 0.12345
    assert "**0.123**" in tabicl_card(model, benchmark, folder.name)


def test_checkpoint_is_the_one_of_the_facts_and_small(product):
    folder, model, benchmark = product
    content = (folder / f"{folder.name}.ckpt").read_bytes()
    assert hashlib.sha256(content).hexdigest() == model["sha256"] == benchmark["checkpoint_sha256"]
    assert len(content) == model["bytes"] <= 4_000_000


def test_small_classifier_beats_linear_and_boosted_models(project):
    mean = read_json(project / "resources/tabicl-small/benchmark.json")["mean_auc"]
    assert mean["TabICL small, raw"] > max(mean["logistic regression"], mean["gradient boosting"])


def test_small_regressor_beats_neighbours_and_is_near_ridge(project):
    data = read_json(project / "resources/tabicl-small-regression/benchmark.json")["data"]
    for name, entry in data.items():
        mean = {method: sum(values) / len(values) for method, values in entry["r2"].items()}
        assert mean["TabICL small, raw"] > mean["5 nearest neighbours"], name
        assert mean["TabICL small, raw"] > mean["ridge"] - 0.05, name


def test_the_catalogue_and_the_config_speak_of_this_model(product, config):
    folder, model, _ = product
    assert config["models"][folder.name]["sha256"] == model["sha256"]
    own, shared = config["pretrain"]["models"][folder.name], config["pretrain"]["settings"]
    made = model["settings"]
    assert {key: made[key] for key in shared if key not in ("architecture", "prior")} | {"steps": made["steps"]} == {
        **{key: value for key, value in shared.items() if key not in ("architecture", "prior")},
        "steps": own["steps"],
    }
    head = {key: own[key] for key in ("max_classes", "num_quantiles") if key in own}
    assert made["architecture"] == shared["architecture"] | head
    assert made["prior"] == shared["prior"] | {"max_classes": own["max_classes"]}


def test_the_card_and_weights_of_the_language_model_are_those_of_the_facts(project):
    folder = project / "resources/text-small"
    model, benchmark = (read_json(folder / name) for name in ("model.json", "benchmark.json"))
    content = (folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() == model["sha256"]
    assert len(content) == model["bytes"] <= 5_000_000
    assert (folder / "README.md").read_text(encoding="utf-8") == text_card(model, benchmark)
