"""Checkpoints: fetched from a path or a hub, opened safely, and asked deterministically."""

import numpy as np
import pytest
import torch
from tabicl._model.tabicl import TabICL

from memaudit.attacks.shadow_queries import logit_signals
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.models.model_folder import load

SMALL = {"max_classes": 4, "embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
SMALL |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}


@pytest.fixture
def folder(tmp_path):
    """A model folder as the fetch rule leaves it, with a random TabICL."""
    torch.manual_seed(0)
    (tmp_path / "weights").mkdir()
    torch.save({"config": SMALL, "state_dict": TabICL(**SMALL).state_dict()}, tmp_path / "weights/small.ckpt")
    describe(tmp_path)
    return tmp_path


def describe(folder, family="tabicl"):
    """Write the card of the weights that lie in a folder."""
    facts = {"family": family, "task": "classification", "mode": "raw", "version": None, "options": {"clip": 6.0}}
    write_json(facts | {"name": "small", "sha256": sha256(folder / "weights")}, folder / "model.json")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.normal(size=(40, 5)).astype(np.float32)), torch.from_numpy(rng.integers(0, 3, 40))


def test_the_same_question_has_the_same_answer(folder, rows):
    x, y = rows
    contexts = np.random.default_rng(1).random((6, 40)) < 0.5
    asked = torch.ones(40, dtype=torch.bool)
    first, second = (logit_signals(load(folder / "model.json"), x, y, contexts, asked, 3) for _ in range(2))
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert first.shape == (6, 40)
    assert np.isfinite(first).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_a_gpu_answers_as_the_cpu_does(folder, rows, monkeypatch):
    """In fp32 on both: the limit that docs/platforms.md states."""
    x, y = rows
    on_gpu = load(folder / "model.json")  # switches the GPU's shorter float format off
    monkeypatch.setenv("MEMAUDIT_DEVICE", "cpu")
    on_cpu = load(folder / "model.json")
    answers = (model.logits(x[None, :30], y[None, :30], x[None, 30:])[..., :3].cpu() for model in (on_cpu, on_gpu))
    torch.testing.assert_close(*answers, atol=1e-4, rtol=0)


def test_a_record_in_its_own_context_is_answered_otherwise(folder, rows):
    """The grid sees membership: with the record's row in the context its signal differs."""
    x, y = rows
    out = np.zeros((1, 40), dtype=bool)
    out[0, 1:30] = True
    inside = out.copy()
    inside[0, 0] = True
    asked = torch.arange(40) == 0
    model = load(folder / "model.json")
    assert logit_signals(model, x, y, out, asked, 3) != logit_signals(model, x, y, inside, asked, 3)


def test_a_device_that_is_not_there_is_named(folder, monkeypatch):
    monkeypatch.setenv("MEMAUDIT_DEVICE", "cuda:7")
    with pytest.raises(AuditError, match=r"MEMAUDIT_DEVICE=cuda:7: there is no such device here; set one of cpu"):
        load(folder / "model.json")


def test_other_weights_beside_the_card_are_refused(folder):
    torch.save({"config": SMALL, "state_dict": TabICL(**SMALL).state_dict()}, folder / "weights/small.ckpt")
    with pytest.raises(AuditError, match="not the weights that"):
        load(folder / "model.json")


def test_an_unknown_family_is_named(folder):
    describe(folder, family="gpt")
    with pytest.raises(AuditError, match="unknown family of models: 'gpt' in mode 'raw'"):
        load(folder / "model.json")
