"""The attacks of an audit on its score matrices, as cases of `threat_models`."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from memaudit.arrays import Codes, Mask
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import Attack
from memaudit.attacks.score_matrices import confidence, labels, stable, variant
from memaudit.attacks.signals import correctness
from memaudit.data import membership_matrices
from memaudit.statistics import threat_models
from memaudit.statistics.threat_models import Case, case


def first_variant(grid: xr.Dataset) -> xr.Dataset:
    """The score matrix of the first variant: contexts of the usual size, without mitigations."""
    return variant(grid, grid.variant.values[0])


def lira_on_members(grid: xr.Dataset) -> tuple[Attack, Mask, Codes]:
    """LiRA on the members of a score matrix, with their membership matrix and their privacy units."""
    members = grid.isel(record=grid.member.values)
    return threat_models.ratio(confidence(members)), members.design.values, members.unit.values


def passive(grid: xr.Dataset, model: str, threats: Collection[str]) -> Iterator[Case]:
    """Attacks on all members by an adversary who leaves the context as it is: LiRA, and correctness of the label.

    model: its key in the results; threats: `labels` adds the attack on predicted labels.
    """
    keys = {"dataset": grid.dataset, "model": model, "records": "members"}
    attack, membership, units = lira_on_members(grid)
    yield case(keys, "lira", attack, membership, units)
    if "labels" in threats:
        members = grid.isel(record=grid.member.values)
        right = correctness(members.logits.values.astype(float), labels(members))
        yield case(keys, "correctness", Attack(right, "lira", {"floor": resolution_floor(1)}), membership, units)


def main_alike(main: xr.Dataset, other: xr.Dataset, dataset: str, model: str) -> Case:
    """LiRA on the main model with as many shadow contexts as another model has, for a fair comparison of the two."""
    fewer = main.isel(model=slice(other.sizes["model"]))
    return case({"dataset": dataset, "model": model, "records": "main alike"}, "lira", *lira_on_members(fewer))


def perturbation(grid: xr.Dataset, dataset: str, settings: Mapping[str, Any]) -> Case:
    """The label-only attack with noisy copies, on the targets; settings: `scale` and `count` of the copies."""
    keys = {"dataset": dataset, "model": "main", "records": "targets"}
    attack = threat_models.stability(stable(grid, settings["scale"], settings["count"]), settings["count"])
    queries = settings["count"] + 1
    return case(keys, "perturbation", attack, grid.design.values, grid.unit.values, queries=queries)


def active(grid: xr.Dataset, dataset: str) -> Iterator[Case]:
    """The attacks with mislabelled copies in the context, on the targets: LiRA at each number of them, and Brainwash.

    The number 0 is LiRA without poisons on the same targets.
    """
    keys = {"dataset": dataset, "model": "main", "records": "targets"}
    membership, units = grid.design.values, grid.unit.values
    for poisons in map(int, grid.budget.values):
        attack = threat_models.ratio(confidence(grid.sel(budget=poisons)))
        yield case(keys, "lira poisoned" if poisons else "lira", attack, membership, units, poison=poisons)
    passes = float(grid.passes.mean())
    yield case(keys, "brainwash", threat_models.resistance(grid.copies.values), membership, units, queries=passes)


def negative_control(grid: xr.Dataset, rng: np.random.Generator) -> Case:
    """LiRA on records that are in no context, with a membership matrix drawn at random."""
    others = grid.isel(record=~grid.member.values)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    drawn = membership_matrices.balanced(grid.sizes["model"], units.max() + 1, rng)
    keys = {"dataset": grid.dataset, "model": "main", "records": "placebo"}
    membership = membership_matrices.expand(drawn, units)
    return case(keys, "lira", threat_models.ratio(confidence(others)), membership, units)
