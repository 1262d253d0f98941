"""Scores of an adversary who sees attention: score matrices with attention, and the attacks on them."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.attention_statistics import GAP, LARGEST
from memaudit.attacks.registry import attack
from memaudit.attacks.score_matrices import confidence
from memaudit.common.errors import AuditError


def joined(answers: xr.Dataset, attention: xr.Dataset) -> xr.Dataset:
    """The score matrix of the answers with the variable `attention`, on the contexts and records of the latter.

    answers: of one variant, with `design`. Raises AuditError where the contexts are not its first ones.
    """
    same = answers.isel(model=slice(attention.sizes["model"]))
    missing = np.setdiff1d(attention.record.values, answers.record.values)
    same = None if missing.size else same.sel(record=attention.record.values)
    if same is None or not np.array_equal(same.design.values, attention.design.values):
        raise AuditError(f"attacks, data set {answers.dataset}: attention is of other contexts; query it again")
    return same.assign(attention=attention.attention.drop_vars(set(attention.attention.coords) - {"statistic"}))


def of_variants(grids: Mapping[str, xr.Dataset], attention: xr.Dataset) -> dict[str, xr.Dataset]:
    """`joined` score matrices of those variants whose attention was read, by name.

    grids: of the answers, one variant each, by name; attention: of all variants together. Raises as `joined`.
    """
    parts = {name: attention.variant.values == grid.variant.values[0] for name, grid in grids.items()}
    return {name: joined(grids[name], attention.isel(model=part)) for name, part in parts.items() if part.any()}


def white_box(queried: xr.Dataset, population: xr.Dataset, rmia: Mapping[str, float]) -> dict[str, Attack]:
    """The attacks that read attention, by name in the registry.

    queried: score matrix of `joined` of the attacked records; population: the same of records in no context; rmia:
    gamma of RMIA.
    """
    largest, gap = (queried.attention.sel(statistic=name).values.astype(np.float64) for name in (LARGEST, GAP))
    both = np.stack([largest, gap, confidence(queried)], -1)
    options = {"population": confidence(population), "gamma": rmia["gamma"]}
    return {
        "attention": attack("attention", gap),
        "lira attention": attack("lira attention", largest),
        "attention combined": attack("attention combined", both, **options),
    }
