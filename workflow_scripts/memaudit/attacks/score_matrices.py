"""Score matrices of several context variants: shards put together, rows and records of one variant selected."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import log_softmax

from memaudit.attacks import signals
from memaudit.attacks.regression_signals import density_signal, predicts_numbers, with_density
from memaudit.attacks.signals import CLIP, logit_confidence
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid


def gather(paths: str | Sequence[str]) -> xr.Dataset:
    """The shards of one matrix as one, models in order; attributes of the first shard, forward passes of all."""
    shards = [read_grid(path) for path in ([paths] if isinstance(paths, str) else paths)]
    passes = sum(int(shard.attrs.get("forward_passes", 0)) for shard in shards)
    whole = xr.concat(shards, "model", data_vars="minimal", combine_attrs="override")
    return whole.assign_attrs(forward_passes=passes)


def of_input(job: Any, name: str) -> xr.Dataset:
    """The grid that a job's input `name` holds in one shard or several. Raises AuditError if there is no such input."""
    if not (paths := job.input.get(name)):
        remedy = f"give {name}=PATH, or leave its arm out of the params"
        raise AuditError(f"attacks, data set {job.wildcards.dataset}: no input is called {name}; {remedy}")
    return gather(paths)


def variant(grid: xr.Dataset, name: str) -> xr.Dataset:
    """The shadow contexts (model) of one variant, and the records that it queries, with `design` beside `counts`.

    Raises AuditError for a variant that the grid has not.
    """
    rows = grid.variant.values == name
    if not rows.any():
        known = ", ".join(dict.fromkeys(grid.variant.values))
        raise AuditError(f"variant {name!r} of {grid.dataset} is not in the grid; it has: {known}")
    chosen = grid.isel(model=rows)
    chosen = chosen.assign(design=chosen.counts > 0)
    if predicts_numbers(chosen):
        return with_density(chosen.isel(record=~np.isnan(chosen.prediction.values).all(axis=0)))
    return chosen.isel(record=~np.isnan(chosen.logits.values).all(axis=(0, 2)))


def labels(grid: xr.Dataset) -> NDArray[np.int64]:
    """True classes of the entries: (model, record)."""
    return np.broadcast_to(grid.label.values, (grid.sizes["model"], grid.sizes["record"]))


def confidence(grid: xr.Dataset) -> Array:
    """LiRA's signal (model, record): the logit-scaled confidence in the label, of `logits` (model, record, class).

    Of regressors: `regression_signals.density_signal`.
    """
    if predicts_numbers(grid):
        return density_signal(grid)
    # Model by model: float64 copies of a large table's logits would take ten times their memory at once.
    entries = zip(grid.logits.values, labels(grid), strict=True)
    return np.stack([logit_confidence(logits, truth, clip=CLIP) for logits, truth in entries])


def threshold_signals(grid: xr.Dataset) -> dict[str, Array]:
    """Signals (model, record) of the threshold attacks (TabPATE, Table 7), higher = more likely a member."""
    # Every class is clipped: an infinite loss or modified entropy has no threshold.
    logits = np.clip(log_softmax(grid.logits.values.astype(float), axis=-1), np.log(CLIP), np.log1p(-CLIP))
    truth = labels(grid)
    return {
        "loss": -signals.loss(logits, truth),
        "confidence": signals.confidence(logits),
        "prediction gap": signals.prediction_gap(logits, truth),
        "entropy": -signals.entropy(logits),
        "correctness": signals.correctness(logits, truth),
        "modified entropy": -signals.modified_entropy(logits, truth),
    }


def attackable(grid: xr.Dataset) -> NDArray[np.str_]:
    """Ids of the members that stand in some of the contexts."""
    return grid.record.values[grid.member.values & grid.design.values.any(0)]


def stable(grid: xr.Dataset, scale: float, count: int) -> Array:
    """Share of the noisy copies of one setting that keep the answer, (model, record), of a perturbed grid.

    Raises AuditError for a setting that the grid has not.
    """
    chosen = np.isclose(grid["scale"].values, scale) & (grid["count"].values == count)
    if chosen.sum() != 1:
        raise AuditError(
            f"attacks, data set {grid.dataset}: the perturbed grid has no {count} copies at scale {scale}; make it anew"
        )
    return grid.stable.values[..., chosen][..., 0].astype(np.float64)
