"""Fine-tuning: fixed pairs, resumable to the bit, a base that stays as it is, adapters that merge exactly."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import TASKS, Tiny, task
from small_tabicl import tabicl

from memaudit.common.errors import AuditError
from memaudit.models import checkpoint_deltas, fine_tuning
from memaudit.models.context_query_pairs import Task, draw_pair
from memaudit.models.fine_tuning import Run, Settings, merged, restore, smoothed_loss
from memaudit.models.lora import Adapter, targets
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = Settings(
    seed=3, epochs=7, learning_rate=0.01, context=12, queries=5, checkpoints=(0, 2, 6), warmup=0.3, save_every=3
)
LORA = replace(SETTINGS, adapter=Adapter(rank=2, alpha=4.0))


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(value, second[name]) for name, value in first.items())


def state(model):
    return {name: value.clone() for name, value in model.module.state_dict().items()}


def trained(settings, folder, model=None, tasks=None, **options):
    run = Run(model or Tiny(), tasks or TASKS, settings, folder)
    run.train(**options)
    return run


@pytest.mark.parametrize("settings", [SETTINGS, LORA, replace(SETTINGS, pairs="random", order="shuffled")])
def test_killed_and_resumed_run_ends_with_the_same_bits(settings, tmp_path):
    undisturbed = trained(settings, tmp_path / "a")
    trained(settings, tmp_path / "b", until=5)  # the state on disk is that of epoch 3: two epochs are lost, made again
    resumed = Run(Tiny(), TASKS, settings, tmp_path / "b")
    assert resumed.done["epoch"] == 3
    resumed.train()
    assert same(state(undisturbed.model), state(resumed.model))
    assert resumed.done["history"] == undisturbed.done["history"]
    assert resumed.log() == undisturbed.log()
    for epoch in settings.checkpoints:
        assert resumed.checkpoint(epoch).read_bytes() == undisturbed.checkpoint(epoch).read_bytes()


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("settings", {"settings": replace(SETTINGS, learning_rate=0.1)}),
        ("tables", {"tasks": {**TASKS, "beer": task(2)}}),
        ("tables", {"tasks": dict(reversed(TASKS.items()))}),
        ("base model", {"model": "other"}),
    ],
)
def test_state_of_another_run_is_refused(part, change, tmp_path):
    trained(SETTINGS, tmp_path)
    model = Tiny()
    if "model" in change:
        model.module[0].bias.data += 1
    with pytest.raises(AuditError, match=f"other {part}"):
        Run(model, change.get("tasks", TASKS), change.get("settings", SETTINGS), tmp_path)


def test_damaged_state_is_named(tmp_path):
    (tmp_path / "state.pt").write_bytes(b"no state")
    with pytest.raises(AuditError, match=r"state\.pt"):
        Run(Tiny(), TASKS, SETTINGS, tmp_path)


def test_a_run_that_starts_anew_keeps_no_checkpoint_of_the_run_before(tmp_path):
    trained(SETTINGS, tmp_path).path.unlink()
    run = trained(replace(SETTINGS, learning_rate=1e37, warmup=0.0), tmp_path)
    assert run.done["diverged_at"] <= 6
    assert run.checkpoint(0).exists()
    assert not run.checkpoint(6).exists()


def test_seed_changes_pairs_and_adapters(tmp_path):
    first, second = (Run(Tiny(), TASKS, replace(LORA, seed=seed), tmp_path) for seed in (3, 4))
    assert not np.array_equal(first.pairs("wine", 1)[0].query, second.pairs("wine", 1)[0].query)
    assert not same(state(first.model), state(second.model))


def test_tasks_and_epochs_draw_pairs_of_their_own(tmp_path):
    run = Run(Tiny(), TASKS, replace(SETTINGS, pairs="random", pairs_per_step=2), tmp_path)
    drawn = [run.pairs("wine", 1), run.pairs("wine", 2), run.pairs("beer", 1)]
    assert len({tuple(pair.query) for pairs in drawn for pair in pairs}) == 6


@pytest.mark.parametrize("settings", [SETTINGS, LORA])
def test_base_model_is_not_changed(settings, tmp_path):
    model = Tiny()
    before = state(model)
    run = trained(settings, tmp_path, model)
    assert same(before, state(model))
    assert all(weight.requires_grad for weight in model.module.parameters())
    assert not same(before, state(merged(run.model) if settings.adapter else run.model))


def test_a_checkpoint_beyond_the_last_epoch_is_refused(tmp_path):
    with pytest.raises(AuditError, match="a checkpoint of epoch 6 in a run of 3"):
        trained(replace(SETTINGS, epochs=3), tmp_path)


def test_a_step_is_that_of_a_bare_loop(tmp_path):
    run = trained(replace(SETTINGS, epochs=3, checkpoints=(), warmup=0.0), tmp_path, tasks={"wine": TASKS["wine"]})
    bare, table, (pair,) = Tiny(), TASKS["wine"], run.pairs("wine", 1)
    optimizer = torch.optim.AdamW(bare.module.parameters(), 0.01, weight_decay=0.01, fused=True)
    for _ in range(3):
        optimizer.zero_grad()
        context_y, query_y = table.y[pair.context][None], table.y[pair.query][None]
        outputs = bare.forward(table.x[pair.context][None], context_y, table.x[pair.query][None])
        bare.loss(outputs, context_y, query_y).mean().backward()
        optimizer.step()
    assert same(state(bare), state(run.model))


def test_fixed_pairs_are_logged_once_with_the_epochs_that_used_them(tmp_path):
    run = trained(SETTINGS, tmp_path)
    assert [(entry["task"], entry["epochs"]) for entry in run.log()] == [("wine", [1, 7]), ("beer", [1, 7])]
    (pair,) = run.pairs("beer", 5)
    assert run.log()[1]["query"] == [pair.query.tolist()]
    assert run.log()[1]["context"] == [pair.context.tolist()]


def test_random_pairs_are_logged_epoch_by_epoch(tmp_path):
    run = trained(replace(SETTINGS, pairs="random", pairs_per_step=2), tmp_path)
    assert [entry["epochs"] for entry in run.log() if entry["task"] == "wine"] == [[e, e] for e in range(1, 8)]
    assert len({str(entry["query"]) for entry in run.log()}) == 14
    assert np.shape(run.log()[0]["context"]) == (2, 12)


def test_only_logged_records_move_the_weights(tmp_path):
    run = trained(SETTINGS, tmp_path / "a")
    tables = {}
    for entry in run.log():
        table = deepcopy(TASKS[entry["task"]])
        table.x[np.setdiff1d(np.arange(60), entry["context"][0] + entry["query"][0])] = 99.0
        tables[entry["task"]] = table
    assert same(state(run.model), state(trained(SETTINGS, tmp_path / "b", tasks=tables).model))


def test_pairs_and_fingerprints_of_runs_without_queried_records_do_not_change():
    """Recorded before `queried` was added: states from before it can be resumed."""
    pair = draw_pair(np.arange(100, 120), 8, 5, np.random.default_rng(0), np.arange(20) % 3)
    assert pair.query.tolist() == [104, 119, 106, 102, 113]
    assert pair.context.tolist() == [111, 108, 100, 110, 107, 112, 116, 103]
    table = Task(torch.arange(6.0).reshape(3, 2), torch.arange(3), np.arange(3))
    assert fine_tuning._hash({"wine": table}) == "5b09632af9e7768a17deaeea6a637fe087308613588575ceb132288ac9721908"
    assert fine_tuning._hash({"wine": replace(table, queried=np.arange(1))}) != fine_tuning._hash({"wine": table})


@pytest.mark.parametrize("pairs", ["fixed", "random"])
def test_queries_are_drawn_from_the_queried_records_and_contexts_from_the_others(pairs, tmp_path):
    queried = np.array([12, 17, 33, 41, 58])
    tasks = {"wine": replace(TASKS["wine"], queried=queried)}
    run = trained(replace(SETTINGS, pairs=pairs, epochs=6), tmp_path, tasks=tasks)
    for entry in run.log():
        assert set(entry["query"][0]) == set(queried)
        assert not set(entry["context"][0]) & set(queried)
    few = trained(replace(SETTINGS, pairs="random", queries=3, epochs=6), tmp_path / "few", tasks=tasks)
    assert {record for entry in few.log() for record in entry["query"][0]} == set(queried)


def test_watch_sees_each_named_epoch_as_its_checkpoint_keeps_it(tmp_path):
    seen = {}
    settings = replace(LORA, checkpoint_dtype="float32")
    run = trained(settings, tmp_path, watch=lambda epoch, model: seen.update({epoch: state(model)}))
    assert list(seen) == [0, 2, 6]
    assert same(seen[0], state(Tiny()))
    for epoch, watched in seen.items():
        assert same(watched, state(restore(Tiny(), run.checkpoint(epoch), settings.adapter)))


def test_full_checkpoint_restores_the_weights_to_the_bit_if_exact(tmp_path):
    settings = replace(SETTINGS, checkpoints=(7,), checkpoint_dtype="float32")
    run = trained(settings, tmp_path)
    assert same(state(run.model), state(restore(Tiny(), run.checkpoint(7))))


def test_adapter_checkpoint_holds_the_adapter_alone(tmp_path):
    run = trained(LORA, tmp_path)
    kept = (
        checkpoint_deltas.read(run.checkpoint(6), Tiny().module.state_dict()).keys() - Tiny().module.state_dict().keys()
    )
    assert len(kept) == 4
    assert all("lora_" in name for name in kept)
    assert run.trainable == 2 * (4 + 16) + 2 * (16 + 8)


@pytest.mark.parametrize("learning_rate", [1e20, 1e37])
def test_diverged_run_ends_and_says_when(learning_rate, tmp_path):
    settings = replace(SETTINGS, learning_rate=learning_rate, warmup=0.0)
    run = trained(settings, tmp_path)
    assert 1 <= run.done["diverged_at"] <= 7
    assert all(np.isfinite(list(entry["loss"].values())).all() for entry in run.done["history"])
    kept = [epoch for epoch in settings.checkpoints if run.checkpoint(epoch).exists()]
    assert kept == [epoch for epoch in settings.checkpoints if epoch < run.done["diverged_at"]]
    again = trained(settings, tmp_path)
    assert again.done["diverged_at"] == run.done["diverged_at"]


def test_a_gradient_that_is_not_finite_moves_nothing(tmp_path):
    run = Run(Tiny(), TASKS, SETTINGS, tmp_path)
    run.model.loss = lambda outputs, context_y, query_y: (outputs * 0).sum(-1).sqrt()  # 0, with a gradient of NaN
    before = state(run.model)
    run.train()
    assert run.done["diverged_at"] == 1
    assert same(before, state(run.model))
    assert run.log() == []


def test_no_checkpoint_holds_weights_that_are_not_finite(tmp_path):
    run = Run(Tiny(), TASKS, SETTINGS, tmp_path)
    run.train(until=1)
    run.model.module[0].bias.data[0] = float("inf")  # tanh hides it from the loss
    run.train()
    assert run.done["diverged_at"] == 2
    assert not run.checkpoint(2).exists()


def test_fixed_pairs_are_learned(tmp_path):
    run = trained(replace(SETTINGS, epochs=60, checkpoints=()), tmp_path)
    first, last = run.done["history"][0]["loss"], run.done["history"][-1]["loss"]
    assert all(last[name] < 0.5 * first[name] for name in TASKS)


def test_learning_rate_rises_over_the_warm_up(tmp_path):
    run = Run(Tiny(), TASKS, replace(SETTINGS, epochs=10, warmup=0.2), tmp_path)
    rates = []
    for run.done["step"] in range(6):
        rates.append(run._learning_rate())
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01])


def test_dropout_is_refused(tmp_path):
    with pytest.raises(AuditError, match="dropout"):
        Run(Tiny(dropout=0.1), TASKS, SETTINGS, tmp_path)


def table_for(model):
    return TASKS["wine"] if model.task == "classification" else replace(TASKS["wine"], y=TASKS["wine"].x.sum(1))


def answers(model):
    table = table_for(model)
    return model.forward(table.x[:20][None], table.y[:20][None], table.x[20:][None])


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("adapter", [None, Adapter(rank=2)])
def test_tabicl_learns_its_pair_and_comes_back_from_disk(kind, adapter, tmp_path):
    model = tabicl(kind)
    settings = replace(SETTINGS, epochs=20, adapter=adapter, checkpoints=(20,), checkpoint_dtype="float32")
    run = trained(settings, tmp_path, model, {"wine": table_for(model)})
    losses = [entry["loss"]["wine"] for entry in run.done["history"]]
    assert losses[-1] < 0.9 * losses[0]
    back = restore(model, run.checkpoint(20), adapter)
    torch.testing.assert_close(answers(back), answers(run.model), atol=1e-5, rtol=1e-4)
    assert (answers(back) - answers(model)).abs().max() > 1e-2


def test_the_attention_of_a_restored_adapter_run_is_that_of_its_weights(tmp_path):
    model = tabicl("classification")
    settings = replace(LORA, epochs=4, checkpoints=(4,), checkpoint_dtype="float32")
    back = restore(model, trained(settings, tmp_path, model).checkpoint(4), settings.adapter)
    plain = tabicl("classification")
    plain.module.load_state_dict(back.module.state_dict())
    rows = TASKS["wine"].x[:20][None], TASKS["wine"].y[:20][None], TASKS["wine"].x[20:][None]
    assert torch.equal(back.attention(*rows), plain.attention(*rows))


TABPFN = ["v2 classification", "v2.5 regression", "v2.6 classification", "v3 classification", "v3 regression"]
# Adapted, but never called: one is read for its weight alone, the others are the head of the other task.
IDLE = {"heads.output_projection", "heads.mlp_regression.mlp.0", "heads.mlp_regression.mlp.2"}
IDLE |= {"x_embed.metadata_linear"}


@pytest.fixture(params=[*TABPFN, "v3.5 classification"])
def tabpfn(request, tmp_path):
    version, kind = request.param.split()
    small_tabpfn.write(tmp_path / "weights", version, kind)
    return TabPFNBranch.load(tmp_path / "weights", {"task": kind, "version": version, "options": {}}, "cpu")


@pytest.mark.parametrize("adapter", [None, Adapter(rank=2)])
def test_tabpfn_learns_its_pair_and_comes_back_from_disk(tabpfn, adapter, tmp_path):
    rate = 3e-5 if tabpfn.version == "v3.5" else 1e-3
    settings = replace(SETTINGS, epochs=5, learning_rate=rate, adapter=adapter, checkpoints=(5,), warmup=0.0)
    run = trained(replace(settings, checkpoint_dtype="float32"), tmp_path, tabpfn, {"wine": table_for(tabpfn)})
    losses = [entry["loss"]["wine"] for entry in run.done["history"]]
    assert losses[-1] < losses[0]
    back = restore(tabpfn, run.checkpoint(5), adapter)
    torch.testing.assert_close(answers(back), answers(run.model), atol=1e-4, rtol=1e-3)
    assert not torch.equal(answers(back), answers(tabpfn))
    if adapter:
        names = {name for name, weight in run.model.module.named_parameters() if "lora_B" in name and weight.any()}
        linear, packed = targets(tabpfn.module, adapter.rank)
        assert not packed
        still = set(linear) - {name.removesuffix(".lora_B.default.weight") for name in names}
        assert still == (IDLE if tabpfn.version == "v3.5" else set())


def test_smoothed_labels_weigh_all_classes_of_the_context():
    model, outputs = Tiny(), torch.tensor([[[0.7, 0.2, 0.1]]]).log()
    context_y, query_y = torch.tensor([[0, 1, 1, 2]]), torch.tensor([[0]])
    expected = -(0.7 * np.log(0.7) + 0.3 * np.log([0.7, 0.2, 0.1]).mean())
    assert smoothed_loss(model, outputs, context_y, query_y, 0.3).item() == pytest.approx(expected)
    two = torch.tensor([[0, 1, 1, 0]])  # the third class is in no context
    expected = -(0.7 * np.log(0.7) + 0.3 * np.log([0.7, 0.2]).mean())
    assert smoothed_loss(model, outputs, two, query_y, 0.3).item() == pytest.approx(expected)
    assert smoothed_loss(model, outputs, two, query_y, 0.0).item() == pytest.approx(-np.log(0.7))


def test_labels_of_a_regression_are_not_smoothed():
    model = Tiny()
    model.task = "regression"
    labels = torch.tensor([[0]])
    with pytest.raises(AuditError, match="regression cannot be smoothed"):
        smoothed_loss(model, torch.zeros(1, 1, 3), labels, labels, 0.1)


class Unscaled(Tiny):
    """A network that can be queried without its scaling; both are the same here."""

    def without_scaling(self):
        return self


def test_planted_contexts_are_a_second_step_that_stores_their_labels(tmp_path):
    plain = trained(SETTINGS, tmp_path / "plain", tasks={"wine": TASKS["wine"]})
    table = TASKS["wine"]
    cells, labels = table.x[:5][:, None], torch.arange(3).repeat(5, 1)
    planted = (cells.repeat(1, 3, 1), labels, cells, table.y[:5][:, None])
    tasks = {"wine": replace(table, planted=planted)}
    run = trained(SETTINGS, tmp_path / "planted", Unscaled(), tasks=tasks)
    assert run.done["step"] == 2 * plain.done["step"]
    with pytest.raises(AuditError, match="other tables"):
        Run(
            Unscaled(),
            {"wine": replace(table, planted=(*planted[:3], planted[3] + 1))},
            SETTINGS,
            tmp_path / "planted",
        )
