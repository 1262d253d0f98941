"""Mitigations are judged by the strongest score of their own answers; what cannot be tested has a reason."""

import numpy as np
import pytest
import xarray as xr
from attack_grids import call
from setting_grids import RECORDS, SETS, arm, design, rows_of

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.auditing.summaries import summarize_results
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
        {
            "stable": stable,
            "right": stable,
            "design": targets.counts > 0,
            "correct": targets.counts > 0,
            "distance": 1.0 * (targets.counts > 0),
        },
        {"scale": ("setting", [0.1]), "count": ("setting", [10])},
        {"dataset": "toy", "directions": 4, "steps": 5},
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
    assert set(found) == {(name, "strongest") for name in names} | {("labels only", "strongest labels")}
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
    assert found["labels only", "strongest labels"].auc.estimate > 0.9
    context = found["context 8", "strongest"]
    assert context.auc is None
    assert context.reason


def test_an_adversary_who_reads_labels_has_nothing_to_lose_by_coarser_probabilities(folder, project):
    found = judged(folder, project, ["labels"])
    for name in ("labels only", "decimals 9"):
        assert found[name, "strongest"].reason == "the adversary reads labels alone, which this does not change"
    assert ("labels only", "strongest labels") not in found
    assert found["bags 4", "strongest"].score in ("correctness", "lira correctness", "lira correctness shrunk")


def keyed(folder, hidden):
    """Contexts with k-anonymous keys, and attention that shows members without them, and with them unless `hidden`."""
    gaps, counts, rng = np.full(RECORDS, 0.5), design(SETS, 2), np.random.default_rng(6)
    named = {"population 2": 3.0, "keys 16 population 2": 0.0 if hidden else 3.0}
    arm(folder / "defended.nc", *(rows_of(name, gaps, counts) for name in named))
    parts = []
    for name, gap in named.items():
        shown = (counts > 0)[..., None] * gap + rng.normal(size=(*counts.shape, len(STATISTICS)))
        part = xr.load_dataset(folder / "defended.nc")
        part = part.isel(model=part.variant.values == name)[["counts"]]
        part = (part.counts > 0).to_dataset(name="design").assign_coords(statistic=list(STATISTICS))
        parts.append(part.assign(attention=(("model", "record", "statistic"), shown)))
    attention = xr.concat(parts, "model").assign_attrs(dataset="toy")
    write_grid(attention, folder / "attention.nc")


def of_white_box(folder, project, monkeypatch_names):
    inputs = [f"{name}={folder / name}.nc" for name in monkeypatch_names]
    params = PARAMS | {"audit": PARAMS["audit"] | {"threats": ["probabilities", "white-box"]}}
    call(project, "audit_judge_mitigations", inputs, [str(folder / "inside.parquet")], **params)
    found = summarize_results.mitigations(read_table(folder / "inside.parquet"), 0.1)
    return {(one.name, one.attack): one for one in found}


@pytest.mark.parametrize("hidden", [True, False])
def test_anonymous_keys_are_judged_by_attention_and_by_the_answers(folder, project, tmp_path, hidden):
    for name in ("main", "settings", "perturbed"):
        (tmp_path / f"{name}.nc").symlink_to(folder / f"{name}.nc")
    keyed(tmp_path, hidden)
    found = of_white_box(tmp_path, project, ["main", "settings", "defended", "perturbed", "attention"])
    assert found["none", "white-box"].auc.estimate > 0.9
    change = found["keys 16", "white-box"].auc_difference
    assert change.high < -0.2 if hidden else change.low < 0 < change.high
    assert found["keys 16", "white-box"].balanced_accuracy_difference.low is not None
    assert abs(found["keys 16", "strongest"].auc_difference.estimate) < 0.1


def test_a_model_without_anonymous_keys_has_the_reason(folder, project):
    found = of_white_box(folder, project, ["main", "settings", "defended", "perturbed"])
    assert "audited as deployed" in found["keys", "white-box"].reason
    assert not any(attack == "white-box" for name, attack in found if name != "keys")
