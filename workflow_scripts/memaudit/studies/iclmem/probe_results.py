"""Probe signals of the base model and of fine-tuned ones, read from their files and matched by record."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.attacks.label_exposure import exposure
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.studies.iclmem.run_metrics import RunSignals

ORDER = ("target", "manipulation", "signal")


def signals_of(grid: xr.Dataset) -> xr.DataArray:
    """The probe signals (..., target, manipulation, signal)."""
    return grid.signals.transpose(..., *ORDER)


def references(paths: Sequence[str]) -> dict[tuple[str, str], xr.Dataset]:
    """The base model's signals by data set and label condition, for the effective manipulations only.

    Manipulations without effect on a task of few labels are NaN for all targets. Raises AuditError where some signals
    are missing.
    """
    by_condition = {}
    for grid in map(read_grid, paths):
        finite = np.isfinite(signals_of(grid))
        effective = finite.any([dim for dim in finite.dims if dim != "manipulation"]).values
        if not effective.any() or not finite.isel(manipulation=effective).all():
            raise AuditError(f"iclmem, data set {grid.dataset}: signals of the base model are missing; probe it again")
        by_condition[grid.dataset, grid.labels] = grid.isel(manipulation=effective)
    return by_condition


def join_shards(paths: Sequence[str]) -> xr.Dataset:
    """The joined shards of a fine-tuning condition, splits in order."""
    shards = [read_grid(path) for path in paths]
    return xr.concat(shards, "split", data_vars="minimal", coords="minimal", combine_attrs="override").sortby("split")


def places(tuned: xr.Dataset, base: xr.Dataset) -> NDArray[np.intp]:
    """Positions of one split's targets among the base's. Raises AuditError where the base model lacks a target."""
    place = {record: i for i, record in enumerate(base.id.values)}
    if unknown := [record for record in tuned.id.values if record not in place]:
        raise AuditError(
            f"iclmem, data set {base.dataset}, split {int(base.split)}: the base model was not queried with"
            f" {len(unknown)} of the targets; probe both with the same splits"
        )
    return np.array([place[record] for record in tuned.id.values])


def runs(tuned: xr.Dataset, base: xr.Dataset, control: bool = False) -> Iterator[tuple[int, RunSignals]]:
    """Every epoch of a condition on one split with its signals; base: the same targets, in the same order.

    control: whether this is a negative control, whose training pairs contain no target: the queries of other conditions
    are evaluated as if they were members. An epoch by which no target was a query has no member: it is left out, with a
    message. Raises AuditError where a training pair contains a non-member.
    """
    reference, role, candidates = signals_of(base).values, tuned.role.values, plantable(base)
    for epoch in map(int, tuned.epoch.values):
        probed = tuned.sel(epoch=epoch, manipulation=base.manipulation.values)
        member, in_context = (probed[name].values.astype(bool) for name in ("member", "in_context"))
        where = f"{base.dataset}, split {int(base.split)}, epoch {epoch}"
        if ((member | in_context) & (role == "nonmember")).any() or (control and member.any()):
            raise AuditError(f"iclmem, data set {where}: a training pair contains a non-member; fine-tune again")
        member |= control & (role == "query")
        if not member.any():
            print(f"{where}: no target was a query yet, so none can be attacked: left out", flush=True)
            continue
        with_context = [
            tuned[name].sel(stage=stage).transpose("target", "signal").values
            for name in ("vanilla", "relabelled")
            for stage in (epoch, 0)
        ]
        groups = member, in_context & ~member, role == "nonmember"
        exposures = [exposure(tuned.label_rank.sel(stage=stage).values, candidates) for stage in (epoch, 0)]
        yield epoch, RunSignals(signals_of(probed).values, reference, *with_context, *groups, *exposures)


def plantable(reference: xr.Dataset) -> int:
    """Number of labels that could be planted in a table: all classes, or all different numbers."""
    return int(reference.classes or reference.cardinality)


def table_facts(reference: xr.Dataset, queries: int) -> dict[str, Any]:
    """Facts of a data set for its runs (Section 5).

    Among them records n, different labels k, label density n/k, coverage Q/n, candidate labels of the probe and of
    planted ones, share of the majority, and `chance`, the accuracy or R2 of a constant predictor.
    """
    numbers = reference.task == "regression"
    records, k = int(reference.records), int(reference.cardinality)
    return {
        "task": reference.task, "records": records, "k": k, "majority": float(reference.majority),
        "candidates": int(reference.candidates), "exposure_candidates": plantable(reference),
        "density": records / k, "coverage": queries / records, "manipulations": reference.sizes["manipulation"],
        "chance": 0.0 if numbers else float(reference.majority),
    }  # fmt: skip
