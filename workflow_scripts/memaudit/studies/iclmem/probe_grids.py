"""Grids of the study of memorization: what a base model and fine-tuned ones were asked, brought together by record."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.errors import AuditError
from memaudit.io import read_grid
from memaudit.studies.iclmem.run_results import Run

ORDER = ("target", "manipulation", "signal")


def answers(grid: xr.Dataset) -> xr.DataArray:
    """The probes' signals (..., target, manipulation, signal)."""
    return grid.signals.transpose(..., *ORDER)


def references(paths: Sequence[str]) -> dict[tuple[str, str], xr.Dataset]:
    """The base model's answers by data set and label condition, for the effective manipulations alone.

    What a task of few labels does not have is NaN for all targets. Raises AuditError where some answers are missing.
    """
    found = {}
    for grid in map(read_grid, paths):
        finite = np.isfinite(answers(grid))
        asked = finite.any([dim for dim in finite.dims if dim != "manipulation"]).values
        if not asked.any() or not finite.isel(manipulation=asked).all():
            raise AuditError(f"iclmem, data set {grid.dataset}: answers of the base model are missing; probe it anew")
        found[grid.dataset, grid.labels] = grid.isel(manipulation=asked)
    return found


def arm(paths: Sequence[str]) -> xr.Dataset:
    """All shards of an arm, splits in order."""
    shards = [read_grid(path) for path in paths]
    return xr.concat(shards, "split", data_vars="minimal", coords="minimal", combine_attrs="override").sortby("split")


def places(tuned: xr.Dataset, base: xr.Dataset) -> NDArray[np.intp]:
    """Where the targets of one split of an arm stand among the base's. Raises AuditError where one is not there."""
    place = {record: i for i, record in enumerate(base.id.values)}
    if unknown := [record for record in tuned.id.values if record not in place]:
        raise AuditError(
            f"iclmem, data set {base.dataset}, split {int(base.split)}: the base model was not asked about"
            f" {len(unknown)} of the targets; probe both with the same splits"
        )
    return np.array([place[record] for record in tuned.id.values])


def runs(tuned: xr.Dataset, base: xr.Dataset, placebo: bool = False) -> Iterator[tuple[int, Run]]:
    """Every epoch of an arm on one split with its run; base: the same targets, in the same order.

    placebo: no pair held a target, but those that other arms ask are judged as if it had. An epoch by which no target
    was asked as a query has no member: it is left out, and said. Raises AuditError where a pair held a non-member.
    """
    reference, role = answers(base).values, tuned.role.values
    for epoch in map(int, tuned.epoch.values):
        probed = tuned.sel(epoch=epoch, manipulation=base.manipulation.values)
        member, shown = (probed[name].values.astype(bool) for name in ("member", "shown"))
        where = f"{base.dataset}, split {int(base.split)}, epoch {epoch}"
        if ((member | shown) & (role == "nonmember")).any() or (placebo and member.any()):
            raise AuditError(f"iclmem, data set {where}: a pair held a non-member; fine-tune anew")
        member |= placebo & (role == "query")
        if not member.any():
            print(f"{where}: no target was asked as a query yet, so there is none to attack: left out", flush=True)
            continue
        usual = [
            tuned[name].sel(stage=stage).transpose("target", "signal").values
            for name in ("vanilla", "taught")
            for stage in (epoch, 0)
        ]
        yield epoch, Run(answers(probed).values, reference, *usual, member, shown & ~member, role == "nonmember")


def table_facts(reference: xr.Dataset, queries: int) -> dict[str, Any]:
    """Facts of a data set for its runs: records n, different labels k, label density n/k and coverage Q/n (Section 5),
    labels to choose from, share of the majority, and `chance`, the accuracy or R2 that needs no model."""
    numbers = reference.task == "regression"
    records, k = int(reference.records), int(reference.cardinality)
    return {
        "task": reference.task, "records": records, "k": k, "majority": float(reference.majority),
        "candidates": int(reference.candidates),
        "density": records / k, "coverage": queries / records, "manipulations": reference.sizes["manipulation"],
        "chance": 0.0 if numbers else float(reference.majority),
    }  # fmt: skip
