"""Pre-training of the small language model: its tables, tokens and first weights, and the model that is shipped."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from small_text_settings import TINY

from memaudit.common import seeds
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.models.model_folder import load
from memaudit.models.synthetic_text_tables import batch, tokenizer_of
from memaudit.models.text_benchmark import CARD, draws
from memaudit.models.text_pretraining import Run, facts, losses, validate, validation_set, write_model

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of(TINY)


@pytest.fixture
def trained(tmp_path):
    run = Run(TINY, tmp_path / "undisturbed.state")
    run.train()
    return run


def test_a_leap_of_positions_hides_nothing_that_stands_before(trained):
    tokens, positions, *weights = batch(TINY, trained.tokenizer, 1.0, seeds.generator(0, "leap"))
    positions = positions + 40 * (torch.arange(tokens.shape[1]) > 30)
    changed = tokens.clone()
    changed[:, 5] = (changed[:, 5] + 7) % 300
    late = [torch.zeros_like(weights[0]), weights[1] * 0]
    late[0][:, -1] = 1.0
    losses_ = [losses(trained.model, (text, positions, *late))[0].item() for text in (tokens, changed)]
    assert losses_[0] != losses_[1]


def test_the_first_weights_look_back_and_find_what_followed_in_a_like_record(tokenizer, tmp_path):
    run = Run(TINY, tmp_path / "a.state")
    run.model.set_attn_implementation("eager")
    rows = ["The one is 11. The two is 95.\nAnswer: no\n", "The one is 97. The two is 12.\nAnswer: yes\n"]
    weights, found = [], []
    for asked in rows:
        cut = tokenizer("".join(rows) + asked.partition(" no")[0].partition(" yes")[0], return_tensors="pt")
        said = run.model(cut["input_ids"], output_attentions=True, use_cache=False)
        weights.append([said.attentions[0][0, head].diagonal(-1 - head).mean().item() for head in range(3)])
        answers = [i + 1 for i, token in enumerate(cut["input_ids"][0][:-1]) if tokenizer.decode(token) == ".\nAnswer:"]
        found.append(said.attentions[-1][0, :, -1, answers].sum(0))
    assert np.min(weights) > 0.3
    assert found[0][0] > found[0][1]
    assert found[1][1] > found[1][0]
    assert sum(float(one.sum()) for one in found) > 0.25 * 2 * 4


def test_killed_and_resumed_run_ends_with_the_same_bits(trained, tmp_path):
    Run(TINY, tmp_path / "killed.state").train(until=5)  # the state on disk is that of step 4
    resumed = Run(TINY, tmp_path / "killed.state")
    assert resumed.done["step"] == 4
    resumed.train()
    ends = zip(trained.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in ends)
    assert resumed.done["history"] == trained.done["history"]
    assert resumed.tokenizer.backend_tokenizer.to_str() == trained.tokenizer.backend_tokenizer.to_str()


def test_seed_and_settings_change_the_run(trained, tmp_path):
    other = Run(TINY | {"seed": 4}, tmp_path / "b.state")
    assert not torch.equal(other.model.model.norm.weight, trained.model.model.norm.weight)
    changed = deepcopy(TINY)
    changed["optimiser"]["learning_rate"] = 0.1
    with pytest.raises(AuditError, match="other settings"):
        Run(changed, trained.path)


def test_training_lowers_the_loss_of_held_out_answers(tmp_path):
    run = Run(TINY | {"steps": 40, "validate_every": 100}, tmp_path / "a.state")
    held_out = validation_set(TINY, run.tokenizer)
    before = {name: validate(run.model, batches) for name, batches in held_out.items()}
    run.train()
    assert all(run.done["history"][-1][name] < 0.7 * loss for name, loss in before.items())


def test_the_folder_opens_as_every_language_model_does(trained, tmp_path):
    write_model(trained, tmp_path / "weights")
    found = facts(trained, tmp_path / "weights")
    assert found["bytes"] < 5e6
    write_json(CARD | {"family": "text", "sha256": sha256(tmp_path / "weights")}, tmp_path / "model.json")
    schema, x, y, asked, _ = next(draws("wine", 16, 1, 0))
    model = load(tmp_path / "model.json", schema=schema)
    logits = model.logits(*(torch.from_numpy(part)[None] for part in (x, y, asked)))
    assert logits.shape == (1, 24, 3)
    assert torch.isfinite(logits).all()
    assert found["parameters"] == sum(p.numel() for p in model.module.parameters())
