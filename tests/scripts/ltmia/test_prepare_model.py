"""The base model: its folder, and that its loss falls."""

from pathlib import Path

import pytest
import torch
from ltmia_pipeline import ENTRY, LENGTH, call

from memaudit.common.io import read_json
from memaudit.models.language_models import (
    FILES,
    logits,
    open_model,
    open_tokenizer,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_folder_is_the_whole_model(made):
    assert {path.name for path in Path(made / "base").iterdir()} == {*FILES, "training.json"}
    ids = torch.arange(1, 9)[None]
    with torch.inference_mode():
        assert logits(open_model(made / "base"), ids).shape == (1, 8, len(open_tokenizer(made / "base")))


def test_pretraining_lowers_the_loss_on_the_selection_pool(made):
    facts = read_json(made / "base/training.json")
    assert facts["losses"]["after"] < facts["losses"]["before"] - 1
    assert facts["origin"] == "pre-trained here"


def test_an_existing_model_is_copied_with_its_origin(made, tmp_path):
    params = {"seed": 1, "length": LENGTH, "entry": ENTRY | {"path": str(made / "base")}, "training": {}}
    outputs = [tmp_path / name for name in (*FILES, "training.json")]
    call("ltmia_prepare_model", [], outputs, tmp_path, params, model="own")
    facts = read_json(tmp_path / "training.json")
    assert facts["origin"] == str(made / "base")
    copied, base = open_model(tmp_path), open_model(made / "base")
    assert facts["parameters"] == base.num_parameters()
    assert all(map(torch.equal, copied.parameters(), base.parameters()))
