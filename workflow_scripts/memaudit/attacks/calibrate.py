"""Scores of every attack from a matrix of signals and its membership matrix, by the name of the scoring method.

The aggregation strategies of the study `lira` alone read the fits behind LiRA's scores (`attacks.lira.fitted_blocks`).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memaudit.arrays import Array, Mask
from memaudit.attacks.lira import log_likelihood_ratio, offline_score
from memaudit.attacks.per_class_threshold import per_class
from memaudit.attacks.postprocessed_signal import postprocess
from memaudit.attacks.rmia import rmia
from memaudit.errors import AuditError


def _raw(signals: Array, design: Mask) -> Array:
    return signals


Method = Callable[..., Array]
METHODS: Mapping[str, Method] = {
    "raw": _raw,
    "lira": log_likelihood_ratio,
    "lira_offline": offline_score,
    "postprocessed": postprocess,
    "rmia": rmia,
    "per_class": per_class,
}


def calibrate(grid: Array, design: Mask, method: str | Method, *, targets: int | None = None, **options: Any) -> Array:
    """Scores (model, record): higher = more likely a member, every model target in turn and the others its references.

    grid: (model, record[, query]) signals; design: (model, record), True = record was in that model's training set;
    method: a name of `METHODS`, whose function documents the options, or a function like them. targets: score the first
    models alone, with *all* other models of the grid as references (oracle access, Jälkö et al. 2026, Appendix A.1).
    Raises AuditError for an unknown method, arrays that do not fit, values that are not finite, or too few models.
    """
    function = METHODS.get(method) if isinstance(method, str) else method
    if function is None:
        raise AuditError(f"calibration method {method!r} is unknown: choose one of {', '.join(METHODS)}")
    grid, design = np.asarray(grid, dtype=np.float64), np.asarray(design)
    if design.dtype != np.bool_ or design.ndim != 2 or grid.shape[:2] != design.shape:
        raise AuditError(
            f"signals of shape {grid.shape} and a {design.dtype} design of shape {design.shape} do not fit: both must"
            " be (model, record), the design of booleans"
        )
    if not np.isfinite(grid).all():
        record = int(np.argwhere(~np.isfinite(grid))[0][1])
        raise AuditError(
            f"record {record} has a signal that is not finite: clip probabilities before taking logarithms"
        )
    return function(grid, design, **options)[:targets]
