"""Shards of shadow models: equal whatever the shard, and after a kill."""

import numpy as np
import pytest
import xarray as xr
from predict_pipeline import MODELS, SETTING, trained

from memaudit.common.io import read_grid
from memaudit.models import shadow_ensembles

pytestmark = pytest.mark.usefixtures("one_thread")


def test_nothing_depends_on_the_shard(run, tmp_path):
    """One shard of all models, against two."""
    whole = read_grid(trained(run.ready, tmp_path, "0", SETTING | {"shard": MODELS})["signals"])
    parts = xr.concat([read_grid(run.folder / f"{shard}.nc") for shard in range(2)], "model")
    for name in ("loss", "gap"):
        np.testing.assert_array_equal(whole[name], parts[name])
    np.testing.assert_array_equal(whole.model, range(MODELS))


def test_a_killed_shard_goes_on_with_the_same_bits(run, tmp_path, monkeypatch):
    monkeypatch.setattr(shadow_ensembles, "SAVE", 0.0)
    advance, left = shadow_ensembles.Group._advance, [400]

    def dying(group):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return advance(group)

    monkeypatch.setattr(shadow_ensembles.Group, "_advance", dying)
    with pytest.raises(KeyboardInterrupt):
        trained(run.ready, tmp_path, "0")
    assert left[0] == 0
    assert not list(tmp_path.glob("*.nc"))
    trained(run.ready, tmp_path, "0")
    ours, theirs = read_grid(tmp_path / "0.nc"), read_grid(run.folder / "0.nc")
    for name in ("loss", "gap", "trained", "queried"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    ours, theirs = (xr.load_dataset(folder / "0.states.nc") for folder in (tmp_path, run.folder))
    assert set(ours) == {f"target{target}_layer{layer}" for target in range(2) for layer in range(2)}
    xr.testing.assert_identical(ours, theirs)
