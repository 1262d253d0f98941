"""Look-ups of rules/models.smk."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.checksums import sha256
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.models_lookups import Models

SMALL = SimpleNamespace(model="tabicl-small")


@pytest.fixture
def models():
    return Models(RunConfig(load("config"), PROJECT))


def test_a_local_checkpoint_is_an_input_with_its_checksum(models):
    path = models.checkpoint(SMALL)
    assert Path(path).samefile(PROJECT / "resources/tabicl-small/tabicl-small.ckpt")
    assert models.checksum(SMALL) == sha256(path)


def test_a_checkpoint_that_is_not_there_or_not_local_is_none(models):
    models.run.config["models"]["tabicl-small"]["path"] = "nowhere.ckpt"
    assert (models.checkpoint(SMALL), models.checksum(SMALL)) == ([], None)
    models.run.config["models"]["tabicl-small"]["path"] = None
    assert (models.checkpoint(SMALL), models.checksum(SMALL)) == ([], None)


def test_a_shipped_model_is_trained_by_the_shared_settings_and_its_own(models):
    own = models.run.config["pretrain"]["models"]["tabicl-small"]
    settings = models.pretraining(SMALL)
    assert settings["steps"] == own["steps"]
    assert settings["prior"]["max_classes"] == settings["architecture"]["max_classes"] == own["max_classes"]
    assert "num_quantiles" in settings["architecture"] or own["num_quantiles"] is None
