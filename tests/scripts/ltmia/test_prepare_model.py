"""The base model: its folder, and that its loss falls."""

from pathlib import Path

import pytest
import torch
from ltmia_pipeline import make_all

from memaudit.io import read_json
from memaudit.models.language_models import (
    FILES,
    logits,
    open_model,
    open_tokenizer,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_all(tmp_path_factory.getbasetemp())


def test_a_folder_is_the_whole_model(made):
    assert {path.name for path in Path(made / "base").iterdir()} == {*FILES, "training.json"}
    ids = torch.arange(1, 9)[None]
    with torch.inference_mode():
        assert logits(open_model(made / "base"), ids).shape == (1, 8, len(open_tokenizer(made / "base")))


def test_pretraining_lowers_the_loss_on_the_selection_pool(made):
    facts = read_json(made / "base/training.json")
    assert facts["losses"]["after"] < facts["losses"]["before"] - 1
    assert facts["origin"] == "pre-trained here"
