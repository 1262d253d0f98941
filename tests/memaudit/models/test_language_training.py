"""Language models of every family, their texts, and their training: resumed, low-rank, private, and refused."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_language_models import FAMILIES, model, same, texts

from memaudit.common.errors import AuditError
from memaudit.models.language_models import (
    build,
    encode,
    mean_loss,
)
from memaudit.models.language_training import Lora, Run, Settings, pause_after, rate

pytestmark = pytest.mark.usefixtures("one_thread")

FAST = Settings(epochs=2, batch=4, learning_rate=1e-2)
LENGTH = 12


@pytest.fixture(scope="module")
def encoded(tokenizer):
    """Texts to train on, and others of the same kind."""
    return encode(tokenizer, texts(18, "train"), LENGTH), encode(tokenizer, texts(30, "others"), LENGTH)


def run(path, encoded, settings=FAST, select=True, seed=5, **config):
    return Run(model(**config), encoded[0], encoded[1] if select else None, settings, seed, path / "state")


def test_training_memorizes_and_the_epoch_with_the_lowest_selection_loss_is_kept(encoded, tmp_path):
    training = run(tmp_path, encoded, Settings(epochs=30, batch=6, learning_rate=1e-2), n_embd=64)
    trained = training.train()
    losses_of = {part: [entry[part] for entry in training.done["history"]] for part in ("training", "selection")}
    assert losses_of["training"][-1] < losses_of["selection"][-1] - 1
    best = int(np.argmin(losses_of["selection"]))
    assert 0 < best == training.done["best"] < 15  # later ones memorize, and lose elsewhere
    assert mean_loss(trained, *encoded[1]) == pytest.approx(losses_of["selection"][best], rel=1e-6)
    assert not trained.training


def test_without_selection_texts_the_last_epoch_is_kept(encoded, tmp_path):
    training = run(tmp_path, encoded, Settings(epochs=3, batch=9, learning_rate=1e-2), select=False)
    trained = training.train()
    assert (training.done["best"], list(training.done["history"][0])) == (2, ["training"])
    assert mean_loss(trained, *encoded[0]) < training.done["history"][2]["training"]  # that was before its last step


@pytest.mark.parametrize("settings", [FAST, Settings(epochs=2, batch=4, learning_rate=1e-2, lora=Lora(4, 8.0, 0.3))])
def test_killed_and_resumed_training_ends_with_the_same_bits(encoded, tmp_path, settings):
    """Also with dropout, whose draws do not depend on what was drawn before."""
    dropout = {"resid_pdrop": 0.2}
    whole = run(tmp_path / "whole", encoded, settings, **dropout)
    assert whole.total == 10
    wanted = whole.train()
    killed = run(tmp_path / "killed", encoded, settings, **dropout)
    killed.train(until=7)
    killed.save()
    torch.manual_seed(77)
    resumed = run(tmp_path / "killed", encoded, settings, **dropout)
    assert resumed.done["step"] == 7
    assert same(resumed.train(), wanted)
    assert resumed.done == whole.done
    assert not same(run(tmp_path / "seed", encoded, settings, seed=6, **dropout).train(), wanted)


def test_a_trained_model_keeps_no_gradients_which_take_as_much_memory_as_its_weights(encoded, tmp_path):
    assert all(weight.grad is None for weight in run(tmp_path, encoded).train().parameters())


def test_the_best_weights_and_those_of_a_state_take_no_memory_of_the_gpu(encoded, tmp_path, monkeypatch):
    """A copy goes to main memory whatever the device; a state is written from the weights themselves."""
    kept, training = {}, run(tmp_path, encoded)
    copied = torch.Tensor.to
    monkeypatch.setattr(torch.Tensor, "to", lambda own, *to, **how: kept.update({to: how}) or copied(own, *to, **how))
    training._end_epoch()
    assert kept["cpu",] == {"copy": True}
    assert all(training._detached()[name].data_ptr() == weight.data_ptr() for name, weight in training.weights.items())
    assert all(training.best[name].data_ptr() != weight.data_ptr() for name, weight in training.weights.items())


def test_a_large_state_is_saved_less_often_so_that_at_most_a_twentieth_of_the_time_is_saving():
    assert [pause_after(seconds) for seconds in (0.1, 3.0, 100.0)] == [60.0, 60.0, 2000.0]


def test_a_state_of_other_settings_or_texts_is_refused(encoded, tmp_path):
    run(tmp_path, encoded).save()
    with pytest.raises(AuditError, match="other settings"):
        run(tmp_path, encoded, Settings(epochs=3, batch=4))
    with pytest.raises(AuditError, match="other settings"):
        run(tmp_path, encoded[::-1])


def test_training_leaves_the_random_numbers_of_others_alone(encoded, tmp_path):
    torch.manual_seed(9)
    wanted = torch.rand(3)
    torch.manual_seed(9)
    run(tmp_path, encoded).train()
    assert torch.equal(torch.rand(3), wanted)


def test_a_loss_that_is_no_number_ends_the_training(encoded, tmp_path):
    broken = run(tmp_path, encoded)
    broken.model.lm_head.weight.data[0, 0] = math.nan
    with pytest.raises(AuditError, match="loss of step 0 is not a number"):
        broken.train()
    with pytest.raises(AuditError, match="no texts to train on"):
        run(tmp_path, ((np.empty((0, 4), np.int64), np.empty((0, 4), bool)), encoded[1]))


@pytest.mark.parametrize("family", ["gpt2", "llama", "mamba2"])
def test_lora_adapts_every_linear_layer_and_nothing_else(family, encoded, tmp_path):
    base = build(FAMILIES[family], 300, 64, 0)
    settings = Settings(epochs=1, batch=9, learning_rate=1e-2, lora=Lora(rank=4))
    training = Run(build(FAMILIES[family], 300, 64, 0), encoded[0], None, settings, 1, tmp_path / "state")
    share = sum(weight.numel() for weight in training.weights.values()) / base.num_parameters()
    trained = training.train()
    assert type(trained) is type(base)
    changed = {name for name, weight in trained.named_parameters() if not torch.equal(weight, base.get_parameter(name))}
    linear = {
        f"{name}.weight"
        for name, layer in base.named_modules()
        if type(layer).__name__ in {"Linear", "Conv1D"} and name != "lm_head" and "out_proj" not in name
    }
    assert changed == linear
    assert len(changed) == {"gpt2": 8, "llama": 14, "mamba2": 2}[family]
    assert share < 0.1


def test_private_training_keeps_to_its_budget_and_tells_no_training_loss(encoded, tmp_path):
    settings = Settings.of(
        {"epochs": 2, "batch": 6, "learning_rate": 1e-2, "privacy": {"epsilon": 4.0, "delta": 1e-3, "clip": 0.1}}
    )
    training = run(tmp_path, encoded, settings)
    trained = training.train()
    told = SimpleNamespace(**training.guarantee)
    assert 3.9 < told.epsilon <= 4.0
    assert (told.steps, told.sampling_rate, told.unit) == (6, 6 / 18, "one text of the members")
    assert [list(entry) for entry in training.done["history"]] == [["selection"]] * 2
    assert not same(trained, model())
    assert not same(trained, run(tmp_path, encoded, settings).train()), "noise that repeats is none"


def test_one_text_moves_a_private_step_by_no_more_than_the_clip(encoded, tmp_path, monkeypatch):
    """Without noise: the sum of the clipped gradients of the texts that were drawn, over the expected batch."""
    settings = Settings.of({"epochs": 1, "batch": 18, "privacy": {"epsilon": 1.0, "delta": 1e-3, "clip": 0.05}})
    training = run(tmp_path, encoded, settings)
    monkeypatch.setattr("opacus.optimizers.optimizer._generate_noise", lambda std, reference, **_: 0 * reference)
    seen = []
    inner = training.optimizer.original_optimizer
    monkeypatch.setattr(
        inner, "step", lambda *_: seen.append([weight.grad.clone() for weight in training.weights.values()])
    )
    training.train(until=1)
    norm = math.sqrt(sum(float(part.square().sum()) for part in seen[0]))
    assert 0 < norm <= 0.05 + 1e-6  # 18 texts, each at most 0.05, over 18


def test_the_rate_rises_over_the_warm_up_and_falls_to_zero():
    rates = [rate(step, 100, 0.1) for step in range(100)]
    assert rates[0] == pytest.approx(1 / 11)
    assert np.all(np.diff(rates[:11]) > 0)
    assert rates[10] == 1
    assert rates[55] == pytest.approx(0.5)
    assert rates[99] == pytest.approx(1 / 90)
    assert [rate(step, 4, 0.0) for step in range(4)] == [1, 0.75, 0.5, 0.25]
