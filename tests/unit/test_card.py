"""The committed small model: its card, hash, size and benchmark belong together."""

import hashlib
import json

import pytest

from memaudit.models.card import card

FOLDER = "resources/tabicl-small"


@pytest.fixture
def product(project):
    folder = project / FOLDER
    return folder, *(
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("model.json", "benchmark.json")
    )


def test_card_is_generated_from_the_committed_facts(product):
    folder, model, benchmark = product
    assert (folder / "README.md").read_text(encoding="utf-8") == card(model, benchmark, "tabicl-small")


def test_card_shows_the_numbers_of_the_benchmark(product):
    _, model, benchmark = product
    benchmark["mean_auc"]["gradient boosting"] = 0.12345
    assert "**0.123**" in card(model, benchmark, "tabicl-small")


def test_checkpoint_is_the_one_of_the_facts_and_small(product):
    folder, model, benchmark = product
    content = (folder / "tabicl-small.ckpt").read_bytes()
    assert hashlib.sha256(content).hexdigest() == model["sha256"] == benchmark["checkpoint_sha256"]
    assert len(content) == model["bytes"] <= 4_000_000


def test_small_model_beats_linear_and_boosted_models(product):
    mean = product[2]["mean_auc"]
    assert mean["TabICL small, raw"] > max(mean["logistic regression"], mean["gradient boosting"])


def test_the_catalogue_and_the_config_speak_of_this_model(product, config):
    _, model, _ = product
    assert config["models"]["tabicl-small"]["sha256"] == model["sha256"]
    assert config["pretrain"]["settings"] == model["settings"]
