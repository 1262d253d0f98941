"""Planted grids of attacks on a few shadow contexts and records, and a call of a script by its rule's name."""

import runpy
from types import SimpleNamespace

import numpy as np
import xarray as xr

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.common.io import write_grid
from memaudit.data import membership_matrices
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

SETS, RECORDS, MEMBERS, TARGETS, MOST = 32, 44, 30, 8, 16
SETTINGS = [(0.1, 10), (0.1, 20), (0.5, 20)]
ATTACKS = {
    "sets": SETS, "sizes": [16, 32, 64], "fpr": [0.1], "replicates": 20, "permutations": 19,
    "rmia": {"gamma": 1.0, "offline_a": 0.3}, "perturbation": {"count": 20, "scale": 0.1},
}  # fmt: skip
OUTPUTS = {"tidy": "attacks", "roc": "roc", "ablations": "ablations"}  # of the script that compares attacks
ARMS = {"main": {"model": "small"}, "text": {"model": "words"}}


def passive(rng):
    """A grid of two classes in which a record's presence adds 1.5 deviations to its logit confidence."""
    member, label = np.arange(RECORDS) < MEMBERS, rng.integers(0, 2, RECORDS)
    design = membership_matrices.balanced(SETS, RECORDS, rng, block=8) & member
    confidence = rng.normal(size=RECORDS) + rng.normal(size=design.shape) + 1.5 * design
    logits = np.where(np.arange(2) == label[:, None], confidence[..., None], 0).astype(np.float32)
    return xr.Dataset(
        {"logits": (("model", "record", "class"), logits), "counts": (("model", "record"), design.astype(np.uint8))},
        {
            "model": np.arange(SETS), "record": [f"{i:04x}" for i in range(RECORDS)],
            "variant": ("model", ["usual"] * SETS), "set": ("model", np.arange(SETS)), "label": ("record", label),
            "unit": ("record", np.arange(RECORDS)), "member": ("record", member),
            "rank": ("record", np.where(member, np.arange(RECORDS), -1)),
        },
        {"dataset": "wine", "forward_passes": SETS},
    )  # fmt: skip


def perturbed(grid, rng):
    design = grid.counts.isel(record=slice(TARGETS)) > 0
    stable = [rng.binomial(count, 0.7 + 0.2 * design.values) / count for _, count in SETTINGS]
    scales, counts = zip(*SETTINGS, strict=True)
    coords = {"scale": ("setting", list(scales)), "count": ("setting", list(counts))}
    found = design.to_dataset(name="design").assign_coords(coords)
    shares = (("model", "record", "setting"), np.stack(stable, -1).astype(np.float32))
    distance = rng.normal(size=design.shape) + 1.5 * design.values
    answers = {"distance": (design.dims, distance), "correct": (design.dims, distance > 0)}
    return found.assign(stable=shares, right=shares, **answers).assign_attrs(directions=4, steps=5)


def seen_inside(grid, rng):
    """Attention on the first half of the contexts: a record's presence adds 3 deviations to each statistic."""
    design = grid.counts.isel(model=slice(SETS // 2)) > 0
    values = rng.normal(size=(*design.shape, len(STATISTICS))) + 3 * design.values[..., None]
    found = design.to_dataset(name="design").assign_coords(statistic=list(STATISTICS))
    return found.assign(attention=(("model", "record", "statistic"), values.astype(np.float32)))


def poisoned(grid, rng, targets=TARGETS):
    usual = grid.isel(record=slice(targets))
    design = usual.counts.values > 0
    own = np.arange(2) == usual.label.values[:, None]
    logits = [usual.logits.values + np.where(own, k * design[..., None], 0) for k in (0, 2)]
    copies = np.minimum(rng.poisson(8 + 8 * design), MOST + 1)
    checked = rng.random(copies.shape) < 0.2
    searches = {
        "copies": copies, "passes": rng.integers(4, 9, copies.shape), "scanned": np.where(checked, copies, -1),
        "monotone": np.where(checked, 1, -1).astype(np.int8), "design": design,
    }  # fmt: skip
    found = usual.drop_vars(["logits", "counts"]).assign_coords(budget=[0, 2], copy=[1], poisons=["wrong", "true"])
    found = found.assign_coords({f"target_{name}": ("target", usual[name].values) for name in ("label", "unit")})
    chosen = np.stack([usual.logits.values, logits[1]], 2)[:, :, ::-1, None].astype(np.float32)
    found["chosen_logits"] = (("model", "target", "poisons", "copy", "class"), chosen)
    found["chosen_design"] = (("model", "target"), design)
    found["logits"] = (("model", "record", "budget", "class"), np.stack(logits, 2).astype(np.float32))
    found = found.assign({name: (("model", "record"), values) for name, values in searches.items()})
    return found.assign_attrs(most=MOST, forward_passes=100)


def halves(grid, path):
    names = [f"{path}{i}.nc" for i in range(2)]
    for i, name in enumerate(names):
        write_grid(grid.isel(model=slice(i * SETS // 2, (i + 1) * SETS // 2)), name)
    return names


def call(project, name, inputs, outputs, **params):
    main = runpy.run_path(str(script_of(name)))["main"]
    job = {"input": Paths(inputs), "output": Paths(outputs), "params": SimpleNamespace(**params)}
    main(SimpleNamespace(**job, threads=1, wildcards=SimpleNamespace(dataset="wine")))


def only(table, **keys):
    """The one row with these keys."""
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1, keys
    return table.iloc[0]
