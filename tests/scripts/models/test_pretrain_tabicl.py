"""The script that pre-trains a small TabICL: a checkpoint that can be opened, its facts, and no state file left."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import load_script
from small_tabicl import TINY

from memaudit.common.checksums import sha256
from memaudit.common.io import read_json
from memaudit.models.tabicl import TabICLBranch

pytestmark = pytest.mark.usefixtures("one_thread")


def pretrained(folder):
    script, params = load_script("models_pretrain_tabicl"), SimpleNamespace(settings=TINY, code="0123")
    outputs = [str(folder / "tiny.ckpt"), str(folder / "model.json")]
    return script.main(SimpleNamespace(output=outputs, params=params))


def test_the_checkpoint_predicts_and_the_facts_are_its_own(tmp_path):
    facts = pretrained(tmp_path)
    assert facts == {"device": "cpu", "dtype": "float32", "seed": TINY["seed"]}
    model = read_json(tmp_path / "model.json")
    assert model["sha256"] == sha256(tmp_path / "tiny.ckpt")
    assert model["history"][-1]["step"] == TINY["steps"]
    card = {"task": "classification", "version": None, "options": {"clip": model["clip"]}}
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(1, 12, 3)).astype(np.float32))
    with torch.no_grad():
        logits = TabICLBranch.of_file(tmp_path / "tiny.ckpt", card, "cpu").logits(x, torch.arange(12)[None] % 2, x)
    assert logits[..., :2].isfinite().all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "tiny.ckpt"]


def test_the_same_settings_give_the_same_weights(tmp_path):
    checksums = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        pretrained(tmp_path / name)
        weights = torch.load(tmp_path / name / "tiny.ckpt", weights_only=True)["state_dict"]
        checksums.append({key: value.sum().item() for key, value in weights.items()})
    assert checksums[0] == checksums[1]
