"""Mitigations are judged by the strongest score of their own answers; what cannot be tested has a reason."""

import numpy as np
import pytest
import xarray as xr
from attack_grids import call
from setting_grids import RECORDS, SETS, arm, design, rows_of

from memaudit.auditing import summarize_results
from memaudit.common.io import read_table, write_grid

PARAMS = {
    "seed": 1,
    "attacks": {
        "fpr": [0.2], "replicates": 40, "decimals": [9], "perturbation": {"count": 10, "scale": 0.1},
        "rmia": {"gamma": 1.0, "offline_a": 0.3},
    },
    "audit": {"fpr": 0.1, "threats": ["labels", "probabilities"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Bags hide the leak, a smaller context is in too few models to be attacked."""
    folder, gaps, counts = tmp_path_factory.mktemp("mitigations"), np.full(RECORDS, 2.0), design(SETS, 2)
    arm(folder / "main.nc", rows_of("usual", 2.0, design(SETS)))
    few = design(SETS, 5, 16)
    few[4:] = 0
    smaller = (np.arange(RECORDS) < 16) | (np.arange(RECORDS) >= 48)
    arm(folder / "settings.nc", rows_of("context 8", 3.0, few, smaller), rows_of("copies 3", 1.0, design(SETS)))
    arm(
        folder / "defended.nc",
        rows_of("population 2", gaps, counts),
        rows_of("bags 4 population 2", 0 * gaps, counts),
        rows_of("layer random population 2", gaps, counts),
    )
    targets = xr.load_dataset(folder / "main.nc").isel(record=slice(0, 12), model=slice(0, 16))
    stable = (0.5 + 0.2 * (targets.counts > 0)).expand_dims(setting=1, axis=-1).astype("float32")
    perturbed = xr.Dataset(
        {"stable": stable, "design": targets.counts > 0},
        {"scale": ("setting", [0.1]), "count": ("setting", [10])},
        {"dataset": "toy"},
    )
    write_grid(perturbed, folder / "perturbed.nc")
    return folder


def judged(folder, project, threats):
    inputs = [f"{name}={folder / name}.nc" for name in ("main", "settings", "defended", "perturbed")]
    params = PARAMS | {"audit": PARAMS["audit"] | {"threats": threats}}
    call(project, "audit_judge_mitigations", inputs, [str(folder / "mitigations.parquet")], **params)
    found = summarize_results.mitigations(read_table(folder / "mitigations.parquet"), 0.1)
    return {(one.name, one.attack): one for one in found}


def test_each_mitigation_has_changes_of_leakage_and_accuracy_or_a_reason(folder, project):
    found = judged(folder, project, ["labels", "probabilities"])
    names = {"none", "labels only", "decimals 9", "bags 4", "layer random", "context 8"}
    assert set(found) == {(name, "strongest") for name in names} | {("labels only", "perturbation")}
    assert found["none", "strongest"].auc.estimate > 0.8
    assert found["none", "strongest"].auc_difference is None
    bags = found["bags 4", "strongest"]
    assert bags.auc_difference.high < 0
    assert bags.tpr_difference.high < 0
    assert abs(bags.auc.estimate - 0.5) < 0.1
    digits = found["decimals 9", "strongest"]
    assert abs(digits.auc_difference.estimate) < 0.02
    assert digits.balanced_accuracy_difference.estimate == digits.balanced_accuracy_difference.low == 0
    assert found["labels only", "strongest"].score in ("correctness", "lira correctness", "lira correctness shrunk")
    assert found["labels only", "perturbation"].auc.estimate > 0.9
    context = found["context 8", "strongest"]
    assert context.auc is None
    assert context.reason


def test_an_adversary_who_reads_labels_has_nothing_to_lose_by_coarser_probabilities(folder, project):
    found = judged(folder, project, ["labels"])
    for name in ("labels only", "decimals 9"):
        assert found[name, "strongest"].reason == "the adversary reads labels alone, which this does not change"
    assert ("labels only", "perturbation") not in found
    assert found["bags 4", "strongest"].score in ("correctness", "lira correctness", "lira correctness shrunk")
