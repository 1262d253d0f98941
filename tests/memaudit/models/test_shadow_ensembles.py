"""Models of an ensemble: the same alone and stacked, killed and not, in whatever company; and what each one says."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_classifiers import RECORDS, SETTINGS, llama, mlp, one_token, trained, wrn
from torch import nn

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.models import shadow_ensembles
from memaudit.models.language_model_classifiers import OneTokenClassifier, language_model
from memaudit.models.lora import Adapter, adapt
from memaudit.models.token_questions import END

pytestmark = pytest.mark.usefixtures("one_thread")


def adapted(number):
    module = one_token(number)
    adapt(module, Adapter(rank=2, alpha=4.0), number)
    return module


@pytest.mark.parametrize(
    ("kind", "build", "settings"),
    [
        ("mlp", mlp, SETTINGS),
        ("mlp", mlp, replace(SETTINGS, optimiser="sgd", learning_rate=0.3, weight_decay=0.01, clip_norm=0.1)),
        ("wrn", wrn, replace(SETTINGS, epochs=1, checkpoints=(0, 1))),
    ],
)
def test_a_stacked_ensemble_is_what_one_by_one_training_gives(kind, build, settings, membership, data, tmp_path):
    stacked = trained(tmp_path / "all", membership, data[kind], range(4), build, settings, watched=2)[1]
    for number in range(3):
        one, watched = range(number, number + 1), number < 2
        alone = trained(tmp_path / str(number), membership, data[kind], one, build, settings, watched)[1]
        np.testing.assert_allclose(stacked.gap[:, number], alone.gap[:, 0], atol=2e-4)
        np.testing.assert_allclose(stacked.loss[:, number], alone.loss[:, 0], atol=2e-4)
        for ours, theirs in zip(stacked.states[number], alone.states[0], strict=True) if watched else ():
            np.testing.assert_allclose(ours, theirs, atol=2e-4)
    assert np.abs(stacked.gap[-1] - stacked.gap[0]).max() > 0.1


def test_training_is_plain_adamw_on_each_models_own_records(membership, data, tmp_path):
    trace = trained(tmp_path, membership, data["mlp"], range(2, 3))[1]
    module, own = mlp(2), np.flatnonzero(membership[2])
    optimizer = torch.optim.AdamW(module.parameters(), 0.02, weight_decay=0.0)
    steps = round(RECORDS / 2 / 6)
    for epoch in range(3):
        order = seeds.generator(5, "predict", "toy", "order", 2, epoch).permutation(own)
        for place, rows in enumerate(np.array_split(order, steps)):
            step, warm, last = epoch * steps + place, 0.5 * steps, 3 * steps
            pace = (step + 1) / (warm + 1) if step < warm else (1 + np.cos(np.pi * (step - warm) / (last - warm))) / 2
            optimizer.param_groups[0]["lr"] = 0.02 * pace
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(data["mlp"].x[rows])[0], data["mlp"].y[rows]).backward()
            optimizer.step()
    logits = module(data["mlp"].x)[0].detach().double()
    expected = nn.functional.cross_entropy(logits, data["mlp"].y, reduction="none")
    np.testing.assert_allclose(trace.loss[-1, 0], expected, atol=1e-4)
    others = logits.scatter(1, data["mlp"].y[:, None], -torch.inf).max(1).values
    np.testing.assert_allclose(trace.gap[-1, 0], logits.gather(1, data["mlp"].y[:, None])[:, 0] - others, atol=1e-4)
    assert trace.counts["trained"] == 3 * len(own)
    assert trace.counts["queried"] == 4 * RECORDS


def test_the_logit_gap_is_to_the_rivals_of_a_record(membership, data, tmp_path):
    """Of a vocabulary of 20 the answers alone count; the loss is over all of it."""
    whole = data["text"]
    rivals = torch.stack([17 + (whole.y - 17 + place) % 3 for place in (1, 2)], 1)
    settings = replace(SETTINGS, epochs=1, checkpoints=(0,))
    of_rivals = trained(tmp_path / "a", membership, replace(whole, rivals=rivals), range(1), one_token, settings)[1]
    of_all = trained(tmp_path / "b", membership, whole, range(1), one_token, settings)[1]
    logits = one_token(0)(whole.x)[0].detach().double()
    expected = logits.gather(1, whole.y[:, None])[:, 0] - logits.gather(1, rivals).max(1).values
    np.testing.assert_allclose(of_rivals.gap[0, 0], expected, atol=1e-4)
    assert (of_rivals.gap >= of_all.gap).all()
    np.testing.assert_allclose(of_rivals.loss, of_all.loss)


@pytest.mark.parametrize(("kind", "build", "numbers"), [("mlp", mlp, range(6)), ("text", adapted, range(1, 2))])
def test_killed_and_resumed_training_ends_with_the_same_bits(
    kind, build, numbers, membership, data, tmp_path, monkeypatch
):
    options = {"numbers": numbers, "build": build, "watched": 1}
    undisturbed = trained(tmp_path / "a", membership, data[kind], **options)[1]
    monkeypatch.setattr(shadow_ensembles, "SAVE", 0.0)
    for until in (2, 5, 7):
        trained(tmp_path / "b", membership, data[kind], until=until, **options)
        # Written after the last state, and so made again.
        torn = np.lib.format.open_memmap(tmp_path / "b" / "gap.npy", "r+")
        torn[-1] = np.nan
    group, resumed = trained(tmp_path / "b", membership, data[kind], **options)
    assert group.step == 9
    for name in ("loss", "gap"):
        np.testing.assert_array_equal(getattr(undisturbed, name), getattr(resumed, name))
    for ours, theirs in zip(undisturbed.states[0], resumed.states[0], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert resumed.counts["queried"] == undisturbed.counts["queried"] == 4 * RECORDS
    again = trained(tmp_path / "b", membership, data[kind], **options)[1]
    assert again.counts == resumed.counts


@pytest.mark.parametrize(("kind", "build", "numbers"), [("mlp", mlp, range(6)), ("text", adapted, range(1, 2))])
def test_an_evaluation_goes_on_at_the_batch_where_it_was_killed(
    kind, build, numbers, membership, data, tmp_path, monkeypatch
):
    """Evaluations of large models take hours: each record is answered once at each checkpoint."""
    options = {"numbers": numbers, "build": build, "watched": 1}
    undisturbed = trained(tmp_path / "a", membership, data[kind], **options)[1]
    monkeypatch.setattr(shadow_ensembles, "SAVE", 0.0)
    answered, killed = [], [1, 3, 4]
    outputs = shadow_ensembles.Group._outputs

    def dying(group, x, shared):
        if shared and killed and len(answered) == killed[0]:
            killed.pop(0)
            raise KeyboardInterrupt
        answered.extend([len(x)] * shared)
        return outputs(group, x, shared)

    monkeypatch.setattr(shadow_ensembles.Group, "_outputs", dying)
    while killed:
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "b", membership, data[kind], **options)
    resumed = trained(tmp_path / "b", membership, data[kind], **options)[1]
    assert sum(answered) == 4 * RECORDS
    assert resumed.counts["queried"] == undisturbed.counts["queried"]
    np.testing.assert_array_equal(undisturbed.gap, resumed.gap)
    for ours, theirs in zip(undisturbed.states[0], resumed.states[0], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("kind", "build", "numbers"), [("mlp", mlp, range(3)), ("text", adapted, range(1, 2))])
def test_micro_batches_take_the_steps_of_the_batch(kind, build, numbers, membership, data, tmp_path, monkeypatch):
    """At most two records are computed at once in training; gradients, clipped after their sum, are the same."""
    settings, sizes = replace(SETTINGS, clip_norm=0.5), []
    whole = trained(tmp_path / "a", membership, data[kind], numbers, build, settings)[1]
    outputs = shadow_ensembles.Group._outputs

    def counting(group, x, shared):
        sizes.extend([] if shared else [x.shape[1]])
        return outputs(group, x, shared)

    monkeypatch.setattr(shadow_ensembles.Group, "_outputs", counting)
    parts = trained(tmp_path / "b", membership, data[kind], numbers, build, replace(settings, micro_batch=2))[1]
    assert max(sizes) == 2
    np.testing.assert_allclose(parts.gap, whole.gap, atol=2e-4)
    assert parts.counts["trained"] == whole.counts["trained"]


def test_padding_is_not_computed_and_changes_nothing(membership, data, tmp_path):
    """Of 60 tokens most records use few: as many are computed as the longest of a batch has."""
    rng, whole = np.random.default_rng(0), data["text"]
    lengths = np.where(np.arange(RECORDS) == 7, 60, rng.integers(2, 7, RECORDS))
    tokens = torch.from_numpy(np.where(np.arange(60) < lengths[:, None], rng.integers(0, 15, (RECORDS, 60)), END))
    widths = []

    def counting(number):
        module = OneTokenClassifier(language_model("llama", 20, 60, 16, 2, 2, 24))
        with torch.no_grad():
            for name, weight in sorted(module.named_parameters()):
                weight.copy_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(name))))
        module.register_forward_pre_hook(lambda _, inputs: widths.append(inputs[0].shape[-1]))
        return module

    padded = trained(tmp_path / "a", membership, replace(whole, x=tokens), range(1), counting, watched=1)[1]
    assert set(widths) == {60}
    widths.clear()
    cut = trained(tmp_path / "b", membership, replace(whole, x=tokens, padding=END), range(1), counting, watched=1)[1]
    assert widths.count(60) <= 3 + len(SETTINGS.checkpoints)  # a step of each epoch, a batch of each evaluation
    assert max(width for width in widths if width < 60) == lengths[lengths < 60].max()
    np.testing.assert_allclose(cut.loss, padded.loss, atol=1e-4)
    np.testing.assert_allclose(cut.gap, padded.gap, atol=1e-4)
    for ours, theirs in zip(cut.states[0], padded.states[0], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert np.abs(cut.gap[-1] - cut.gap[0]).max() > 0.05


def test_each_model_is_clipped_by_its_own_gradient(membership, data, tmp_path):
    """A model with large gradients beside it takes nothing from another."""
    settings = replace(SETTINGS, optimiser="sgd", clip_norm=0.05)

    def wild(number):
        module = mlp(number)
        if number:
            module.head.weight.data *= 50
        return module

    beside = trained(tmp_path / "a", membership, data["mlp"], range(2), wild, settings)[1]
    alone = trained(tmp_path / "b", membership, data["mlp"], range(1), wild, settings)[1]
    np.testing.assert_allclose(beside.gap[:, 0], alone.gap[:, 0], atol=1e-4)


def test_an_adapter_trains_and_the_base_does_not(membership, data, tmp_path):
    group, trace = trained(tmp_path, membership, data["text"], range(1), adapted)
    assert group._weights
    assert all("lora" in name for name in group._weights)
    base = llama().state_dict()
    for name, weight in group._module.named_parameters():
        if "lora" not in name:
            plain = name.removeprefix("module.").replace(".base_layer", "")
            assert torch.equal(weight, base[plain]), name
    assert np.abs(trace.gap[-1] - trace.gap[0]).max() > 0.05


def test_a_model_that_diverges_is_named(membership, data, tmp_path):
    settings = replace(SETTINGS, optimiser="sgd", learning_rate=1e30)
    with pytest.raises(AuditError, match=r"toy: the loss of model 4 is not a number at epoch 0\.5"):
        trained(tmp_path, membership, data["mlp"], range(4, 5), settings=settings)


def test_checkpoints_closer_than_a_step_are_refused(membership, data, tmp_path):
    with pytest.raises(AuditError, match=r"less than a step apart \(3 steps an epoch\)"):
        trained(tmp_path, membership, data["mlp"], settings=replace(SETTINGS, checkpoints=(0, 0.1, 3)))
