"""Fine-tuning and probing of one condition on a tiny table: targets, shards, checkpoints and guarantees."""

import json
from zipfile import ZipFile

import numpy as np
import pytest
import xarray as xr
from wine_probes import (
    call,
    same,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def test_fine_tuning_changes_the_signals_and_fewer_targets_have_the_same_ones(world, reference, tuned, tmp_path):
    change = np.abs(tuned.signals.values - reference.signals.values[:, None])[..., :2, 0].mean((0, 2, 3))
    assert (change > 1e-4).all()
    few = call(world, tmp_path / "few.nc", "reference", queries=3, context=2).isel(split=0)
    place = {record: i for i, record in enumerate(reference.id.values[0])}
    assert few.role.values.tolist() == ["query"] * 3 + ["nonmember"] * 3 + ["context"] * 2
    others = reference.isel(split=0, target=[place[record] for record in few.id.values])
    assert few.label.values.tolist() == others.label.values.tolist()
    np.testing.assert_allclose(few.signals.values, others.signals.values, rtol=1e-4, atol=1e-5)


def test_nothing_depends_on_the_shard(world, tuned, tmp_path):
    shards = [call(world, tmp_path / f"{shard}.nc", shard=str(shard), splits=2, splits_per_job=1) for shard in range(2)]
    assert [shard.split.values.tolist() for shard in shards] == [[0], [1]]
    same(
        tuned, xr.concat(shards, "split", data_vars="all", coords="minimal", compat="override"), ("signals", "vanilla")
    )
    assert [list(shard.id.values[0]) for shard in shards] == [list(ids) for ids in tuned.id.values]


def test_checkpoints_are_kept_on_request_and_small(world, tmp_path):
    call(world, tmp_path / "0.nc", keep_checkpoints=True, arm={"epochs": [1, 2, 3, 4]})
    with ZipFile(tmp_path / "0.zip") as kept:
        of_split = [entry.file_size for entry in kept.infolist() if entry.filename.startswith("split-0/")]
    assert len(of_split) == 5
    assert sum(of_split) < 2.5 * (world / "model/weights/small.ckpt").stat().st_size
    assert not list(tmp_path.rglob("*.safetensors"))
    assert not list(tmp_path.rglob("state.pt"))


def test_a_private_condition_reports_its_guarantee_and_an_adapter_its_trained_weights(world, tuned, tmp_path):
    private = {"epsilon": 8.0, "delta": 1e-3, "clip": 1.0, "sampling_rate": 1.0}
    grid = call(world, tmp_path / "private.nc", arm={"private": private, "epochs": [2]})
    guarantee = json.loads(grid.guarantee)
    assert 7.9 < guarantee["epsilon"] <= 8.0
    assert guarantee["steps"] == 2
    assert "context rows are not protected" in guarantee["unit"]
    assert (grid.member.values == (grid.role.values == "query")[:, None]).all()
    assert (grid.signals.values[0, 0, :, :2] != tuned.signals.values[0, 1, :, :2]).any()
    lora = call(world, tmp_path / "lora.nc", arm={"adapter": {"rank": 2, "alpha": 4.0}})
    assert 0 < lora.trainable < 0.2 * tuned.trainable


def test_seconds_are_of_all_epochs_and_all_probes(tuned):
    assert (np.diff(tuned.seconds_finetune.values, axis=1) > 0).all()
    assert tuned.attrs["seconds_finetune"] == pytest.approx(tuned.seconds_finetune.values[:, -1].sum())
    assert tuned.attrs["seconds_probe"] == pytest.approx(tuned.seconds_probe.values.sum())
    assert (tuned.seconds_probe.values > 0).all()
