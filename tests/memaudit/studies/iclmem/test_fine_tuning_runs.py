"""Fine-tuning with probes: members, divergence, and resumption after a kill."""

from itertools import count

import numpy as np
import pytest
from wine_probes import call, same

from memaudit.models.fine_tuning import Run
from memaudit.studies.iclmem.model_probing import Prober

pytestmark = pytest.mark.usefixtures("one_thread")


def test_members_are_the_queries_of_the_log_only(tuned):
    assert (tuned.member.values == (tuned.role.values == "query")[:, None]).all()
    assert (tuned.in_context.values == (tuned.role.values == "context")[:, None]).all()
    assert tuned.role.values[0].tolist() == ["query"] * 8 + ["nonmember"] * 8 + ["context"] * 4


def test_a_record_that_was_never_a_query_is_no_member_whatever_its_role(world, tmp_path, monkeypatch):
    log = Run.log
    monkeypatch.setattr(Run, "log", lambda run: [entry | {"query": [entry["query"][0][1:]]} for entry in log(run)])
    grid = call(world, tmp_path / "0.nc")
    assert grid.member.sum(("epoch", "target")).values.tolist() == [14]


def test_random_pairs_make_members_epoch_by_epoch(world, tmp_path):
    grid = call(world, tmp_path / "0.nc", context=12, arm={"pairs": "random", "epochs": [1, 2, 3]})
    member, in_context = grid.member.values, grid.in_context.values
    outside = grid.role.values == "nonmember"
    assert not (member | in_context)[outside[:, None].repeat(3, 1)].any()
    # Queries and context rows are all among the targets: of 20 a step queries 8 and has 12 in context.
    assert member[0, 0].sum() == 8
    assert in_context[0, 0].sum() == 12
    assert not (member & in_context)[0, 0].any()
    assert (np.diff(member[0].astype(int), axis=0) >= 0).all()
    assert (member[:, 2].sum(1) > 8).all()


def test_a_killed_run_goes_on_from_its_state_with_the_same_bits(world, tmp_path, monkeypatch):
    condition = {"epochs": [2, 11]}
    undisturbed = call(world, tmp_path / "undisturbed" / "0.nc", arm=condition)
    probe, calls = Prober.probe, count()

    def killed(*arguments):
        if next(calls) == 1:  # at epoch 11; the state is that of epoch 10
            raise KeyboardInterrupt
        return probe(*arguments)

    monkeypatch.setattr(Prober, "probe", killed)
    with pytest.raises(KeyboardInterrupt):
        call(world, tmp_path / "0.nc", arm=condition)
    advanced, advance = [], Run.advance
    monkeypatch.setattr(Run, "advance", lambda run: advanced.append(1) or advance(run))
    resumed = call(world, tmp_path / "0.nc", arm=condition)
    assert len(advanced) == 1
    same(undisturbed, resumed)
    assert next(calls) == 3  # signals from before the kill are not computed again


def test_a_learning_rate_without_bound_is_recorded_as_divergence_and_answers_are_nan(world, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": float("inf")})
    assert (grid.diverged_at.values == 1).all()
    assert np.isnan(grid.signals.values).all()
    assert np.isnan(grid.vanilla.values[:, 1:]).all()
    assert np.isfinite(grid.vanilla.values[:, 0]).all()
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()


def test_a_run_that_stops_between_two_probed_epochs_keeps_its_earlier_signals(world, tuned, tmp_path, monkeypatch):
    steps, step = count(), Run.step
    monkeypatch.setattr(Run, "step", lambda run, *batch: None if next(steps) == 2 else step(run, *batch))
    grid = call(world, tmp_path / "0.nc", arm={"epochs": [1, 2, 5]})
    assert grid.diverged_at.values.tolist() == [3]
    np.testing.assert_array_equal(grid.signals.values[:, :2], tuned.signals.values[:1])
    assert np.isnan(grid.signals.values[:, 2]).all()


def test_signals_that_are_not_finite_count_as_divergence(world, tmp_path, monkeypatch):
    probe, calls = Prober.probe, count()
    monkeypatch.setattr(Prober, "probe", lambda *a: probe(*a) * (np.nan if next(calls) == 1 else 1))
    grid = call(world, tmp_path / "0.nc", splits=2, arm={"epochs": [1, 2]})
    assert grid.diverged_at.values.tolist() == [2, -1]
    assert np.isnan(grid.signals.values[0, 1:]).all()
    assert np.isfinite(grid.signals.values[1, :, :, :2]).all()


def test_a_collapsed_model_is_no_error(world, reference, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": 0.1, "epochs": [3]})
    assert grid.diverged_at.values.tolist() == [-1]
    loss = grid.vanilla.sel(signal="loss").mean("target")
    assert (loss.sel(stage=3) > 5 * loss.sel(stage=0)).all()


def test_a_joint_run_has_one_model_and_a_step_for_each_table(world, tuned, tmp_path, monkeypatch):
    steps, step = [], Run.step
    monkeypatch.setattr(Run, "step", lambda run, *batch: steps.append(batch[2].shape[1]) or step(run, *batch))
    grid = call(world, tmp_path / "0.nc", datasets=("wine", "beer"), arm={"joint": True})
    assert steps == [8] * 4  # 2 epochs, 2 tables
    assert grid.dataset.values.tolist() == ["wine"] * 20 + ["beer"] * 20
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()
    first = grid.isel(target=slice(0, 20))
    same(first, tuned.isel(split=[0]), ("id", "label"))
    np.testing.assert_allclose(first.vanilla.values[0, 0], tuned.vanilla.values[0, 0], atol=1e-5)
    assert (first.signals.values[0, 1, :, :2] != tuned.signals.values[0, 1, :, :2]).any()


def test_random_contexts_have_the_same_queries_in_every_epoch(world, tmp_path):
    arm = {"pairs": "random_contexts", "context": 6, "pool": 12, "epochs": [1, 2, 3]}
    grid = call(world, tmp_path / "0.nc", context=12, arm=arm)
    member, in_context = grid.member.values[0], grid.in_context.values[0]
    assert (member == (grid.role.values[0] == "query")).all()
    assert in_context[0].sum() == 6
    assert 6 < in_context[2].sum() <= 12


def test_copies_and_smoothed_labels_change_the_fine_tuning_and_not_its_members(world, tuned, tmp_path):
    for at, arm in enumerate(({"copies": 3}, {"label_smoothing": 0.2})):
        grid = call(world, tmp_path / str(at) / "0.nc", queries=3, arm=arm)
        plain = call(world, tmp_path / "plain" / str(at) / "0.nc", queries=3)
        assert (grid.member.values == plain.member.values).all()
        assert not np.allclose(grid.signals.values, plain.signals.values, equal_nan=True)


def test_planted_memory_is_seen_by_the_probe(world, tmp_path):
    arm = {"epochs": [20], "labels": "shuffled_all"}
    planted, plain = (
        call(world, tmp_path / str(on) / "0.nc", arm=arm | {"planted": on}).signals.values[0, 0, :, 0, 0]
        for on in (True, False)
    )
    role = call(world, tmp_path / "roles" / "0.nc", arm={"epochs": [1]}).role.values[0]
    assert planted[role == "query"].mean() < 0.2
    assert planted[role == "nonmember"].mean() > 2 * planted[role == "query"].mean()
    assert plain[role == "query"].mean() > 2 * planted[role == "query"].mean()


def test_the_held_out_loss_is_that_of_records_no_model_trains_on(tuned):
    assert tuned.held_out.dims == ("split", "epoch")
    assert (tuned.held_out.values > 0).all()
