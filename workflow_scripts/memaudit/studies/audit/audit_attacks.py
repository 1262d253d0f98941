"""The passive attacks of an audit on its score matrices, as cases of `threat_models`."""

from collections.abc import Collection, Iterator

import xarray as xr

from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import Attack
from memaudit.attacks.score_matrices import confidence, labels, variant
from memaudit.attacks.signals import correctness
from memaudit.common.arrays import Codes, Mask
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
    members = grid.isel(record=grid.member.values)
    attack = threat_models.ratio(confidence(members))
    yield case(keys, "lira", attack, members)
    if "labels" in threats:
        right = correctness(members.logits.values.astype(float), labels(members))
        yield case(keys, "correctness", Attack(right, "lira", {"floor": resolution_floor(1)}), members)


def main_alike(main: xr.Dataset, other: xr.Dataset, dataset: str, model: str) -> Case:
    """LiRA on the main model with as many shadow contexts as another model has, for a fair comparison of the two."""
    fewer = main.isel(model=slice(other.sizes["model"]), record=main.member.values)
    keys = {"dataset": dataset, "model": model, "records": "main alike"}
    return case(keys, "lira", threat_models.ratio(confidence(fewer)), fewer)
