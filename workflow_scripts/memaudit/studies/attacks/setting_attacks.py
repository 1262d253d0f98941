"""Attacks on variants of the contexts: which variants and records are compared, and the AUC by number of columns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks.score_matrices import attackable, confidence, gather, variant
from memaudit.common.arrays import Array
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.attacked_records import Attacked, Names
from memaudit.statistics.threat_models import ratio
from memaudit.studies.attacks.model_quality import quality

VARIED = ("context", "features", "order", "copies", "population", "shares", "bags", "layer", "keys")
ELSEWHERE = {
    "shares",
    "bags",
    "layer",
    "keys",
}  # variants for property inference or mitigations, judged by other scripts


def parsed(variant: str) -> dict[str, str]:
    """ "features 4 order 1" -> {"features": "4", "order": "1"}; "usual" -> {}."""
    return dict(re.findall(rf"({'|'.join(VARIED)}) (\S+)", variant))


def varies_only(variant: str, key: str, *others: str) -> bool:
    """Whether a variant differs from the usual contexts in this key and in no other keys than `others`."""
    return key in parsed(variant) and parsed(variant).keys() <= {key, *others}


def membership_variants(paths: Sequence[str] | None, sets: int) -> Iterator[tuple[str, xr.Dataset]]:
    """Variants of one condition that membership is inferred in, by name, at most the first `sets` contexts of each.

    paths: shards of the condition's score matrix; None for a table without the condition.
    """
    if not paths:
        return
    grid = gather(paths)
    for name in dict.fromkeys(grid.variant.values):
        if not parsed(name).keys() & ELSEWHERE:
            yield name, first(variant(grid, name), sets)


def first(grid: xr.Dataset, sets: int) -> xr.Dataset:
    """The first shadow contexts of a variant."""
    return grid.isel(model=slice(0, sets))


def lira_on(grid: xr.Dataset, records: Names) -> Attacked:
    """LiRA on these records of one variant."""
    grid = grid.sel(record=records)
    return Attacked(records, ratio(confidence(grid)), grid.design.values, grid.unit.values, Scheme.of(grid.attrs))


def number_of_columns(name: str, grid: xr.Dataset) -> int:
    """Number of columns of a variant's contexts: those it keeps, at most those of the table."""
    return min(int(parsed(name).get("features", grid.sizes["feature"])), grid.sizes["feature"])


def shared_records(variants: Mapping[str, xr.Dataset], usual: xr.Dataset, key: str) -> Names:
    """Records that can be attacked in the usual contexts and in all variants of one key.

    For the key "copies" these are the records that stand several times in a context.
    """
    shared = attackable(usual)
    for grid in variants.values():
        attacked = grid.record.values[(grid.counts.values > 1).any(0)] if key == "copies" else attackable(grid)
        shared = shared[np.isin(shared, attacked)]
    return shared


def auc_by_columns(variants: Mapping[str, xr.Dataset], usual: xr.Dataset) -> tuple[list[int], Array, int]:
    """Number of columns and AUC of each variant with fewer columns than the table, and of the usual contexts last.

    All are attacked on the same records with as many contexts, whose number is returned last. Shapes: (variant,) each.
    """
    fewer = {name: grid for name, grid in variants.items() if number_of_columns(name, grid) < usual.sizes["feature"]}
    compared = {**fewer, "usual": usual}
    sets = min(grid.sizes["model"] for grid in compared.values())
    attacks = [lira_on(first(grid, sets), attackable(usual)) for grid in compared.values()]
    aucs = np.array([roc.auc(attack.scores(), attack.membership) for attack in attacks])
    return [number_of_columns(name, grid) for name, grid in compared.items()], aucs, sets


def variant_keys(name: str, grid: xr.Dataset) -> dict[str, Any]:
    """Keys of a variant's results: what it varies, its mean number of records and columns, its number of contexts."""
    varied = parsed(name)
    keys = {"variant": name, "context": f"{grid.design.values.sum(1).mean():.4g}"}
    keys |= {"features": number_of_columns(name, grid)}
    keys |= {key: varied.get(key, usual) for key, usual in (("order", 0), ("copies", 1), ("population", 0))}
    return keys | {"sets": grid.sizes["model"]}


def utility(grid: xr.Dataset, rng: np.random.Generator, replicates: int) -> list[Estimate]:
    """Accuracy on the records that are in no context of a variant, with intervals from bootstrap replicates."""
    return quality(grid.isel(record=~grid.member.values), rng, replicates)
