"""Mitigations are attacked anew, on score matrices with planted leaks."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from setting_grids import MEMBERS, RECORDS, SETS, arm, auc, design, only, rows_of

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_grid, write_table


@pytest.fixture
def onion(tmp_path):
    """Dropping the ten most exposed exposes the next ten; dropping others does not; rounding hides a small gap."""
    ranks = pd.DataFrame({"id": [f"r{i:02d}" for i in range(MEMBERS)], "vulnerability": np.arange(MEMBERS, 0, -1.0)})
    write_table(ranks.assign(rank=np.arange(MEMBERS)).sample(frac=1, random_state=0), tmp_path / "ranks.parquet")
    gaps = np.full(RECORDS, 0.5)
    gaps[:10], gaps[10:20] = 2.5, 1.0
    peeled, counts = gaps.copy(), design(SETS, 2)
    peeled[10:20] = 3.0
    dropped, random = counts.copy(), counts.copy()
    dropped[:, :10] = 0
    random[:, [12, *range(20, 29)]] = 0
    inputs = {
        "main": arm(tmp_path / "main.nc", rows_of("usual", 1.0, design(SETS))),
        "settings": arm(
            tmp_path / "settings.nc",
            rows_of("context 8", 3.0, design(16, 5, 16), (np.arange(RECORDS) < 16) | (np.arange(RECORDS) >= MEMBERS)),
            rows_of("copies 3", 1.0, design(16)),
        ),
        "defended": arm(
            tmp_path / "defended.nc",
            rows_of("population 2", gaps, counts),
            rows_of("bags 4 population 2", gaps / 4, counts, base=0.0),
            rows_of("layer dropped population 2", peeled, dropped),
            rows_of("layer random population 2", gaps, random),
            rows_of("layer coarsened population 2", np.where(np.arange(RECORDS) < 10, 0.0, gaps), counts),
        ),
    }
    targets = xr.load_dataset(inputs["main"]).isel(record=slice(0, 12), model=slice(0, 16))
    stable = np.stack([0.5 + 0.2 * (targets.counts > 0) + 0 * targets.counts, 1.0 + 0 * targets.counts], -1)
    perturbed = xr.Dataset(
        {"stable": (("model", "record", "setting"), stable.astype("float32")), "design": targets.counts > 0},
        {"scale": ("setting", [0.1, 0.5]), "count": ("setting", [10, 10])},
        {"dataset": "toy"},
    )
    write_grid(perturbed, tmp_path / "perturbed.nc")
    return [f"{name}={path}" for name, path in inputs.items()] + ["perturbed=perturbed.nc", "ranks=ranks.parquet"]


def test_mitigations_are_attacked_anew_and_the_onion_peels(onion, run):
    wanted = {"perturbation": {"count": 10, "scale": 0.1}, "layer": 0.2}
    (found,) = run("attacks_compare_mitigations", onion, ["mitigations.parquet"], attacks=wanted)
    found = tidy.expand(found)

    def of(mitigation, records, metric="auc difference", attack="lira"):
        return only(found, metric, mitigation=mitigation, records=records, attack=attack)

    assert of("none", "first layer", "auc")["estimate"] == pytest.approx(auc(2.5), abs=0.06)
    assert of("none", "all that remain", "auc")["n"] == SETS * MEMBERS
    # Dropped: the layer is gone, the next one exposed, and more so than where others were dropped.
    assert of("layer dropped", "all that remain", "auc")["n"] == SETS * (MEMBERS - 10)
    assert of("layer dropped", "next layer")["low"] > 0.05
    onion_effect = of("layer dropped - layer random", "next layer")
    assert onion_effect["low"] > 0.05
    assert onion_effect["n"] == SETS * 9  # one of the next layer was dropped at random
    assert not len(found[(found["mitigation"] == "layer dropped") & (found["records"] == "first layer")])
    chance = of("layer random", "next layer")
    assert chance["low"] < 0.05
    assert of("layer random", "first layer", "auc")["estimate"] > 0.9
    assert of("layer coarsened", "first layer")["high"] < -0.2
    assert of("bags 4", "all that remain")["high"] < 0
    assert of("bags 4", "non-members", "accuracy difference")["high"] < 0

    labels = of("labels only", "first layer", "auc", "lira on correctness")["estimate"]
    assert 0.55 < labels < of("decimals 1", "first layer", "auc")["estimate"] < 0.97
    same = of("decimals 1", "non-members", "accuracy difference")
    assert (same["estimate"], same["low"], same["high"]) == (0, 0, 0)

    assert "copies 3" not in set(found["mitigation"])
    plain, rounded = (of(name, "non-members", "accuracy") for name in ("none", "decimals 1"))
    assert (plain["low"], plain["high"]) == (rounded["low"], rounded["high"])
    smaller = of("context 8", "all that remain")
    assert (smaller["low"] > 0, smaller["n"]) == (True, 16 * 16)
    assert of("labels only", "targets", "auc", "perturbation")["estimate"] == 1
    assert of("labels only", "targets", "auc difference", "perturbation")["n"] == 16 * 12
    assert of("none", "targets", "auc")["n"] == 16 * 12


def test_contexts_that_hold_the_dropped_layer_are_refused(onion, run, tmp_path):
    ranks = pd.read_parquet(tmp_path / "ranks.parquet")
    write_table(ranks.assign(rank=MEMBERS - 1 - ranks["rank"]), tmp_path / "ranks.parquet")
    with pytest.raises(AuditError, match="contain some of it"):
        run("attacks_compare_mitigations", onion, ["mitigations.parquet"])


def test_a_table_without_noisy_copies_has_the_rows_of_the_other_mitigations(onion, run):
    wanted = {"perturbation": {"count": 10, "scale": 0.1}, "layer": 0.2}
    (usual,) = run("attacks_compare_mitigations", onion, ["mitigations.parquet"], attacks=wanted)
    inputs = [one for one in onion if not one.startswith("perturbed")]
    (found,) = run("attacks_compare_mitigations", inputs, ["mitigations.parquet"], attacks=wanted)
    kept = usual[~usual["setting"].str.contains("records=targets")]
    assert 0 < len(kept) < len(usual)
    pd.testing.assert_frame_equal(found.reset_index(drop=True), kept.reset_index(drop=True))
