"""Attacks on variants of the contexts: which variants and records are compared, and the AUC by number of columns."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from memaudit.arrays import Array
from memaudit.attacks.score_matrices import attackable, confidence, gather, variant
from memaudit.statistics import roc
from memaudit.statistics.context_attacks import Attacked, Names, parsed
from memaudit.statistics.threat_models import ratio

ELSEWHERE = {"shares", "bags", "layer"}  # variants for property inference or mitigations, judged by other scripts


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
    return Attacked(records, ratio(confidence(grid)), grid.design.values, grid.unit.values)


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
    aucs = np.array([roc.auc(attack.scores(), attack.design) for attack in attacks])
    return [number_of_columns(name, grid) for name, grid in compared.items()], aucs, sets
