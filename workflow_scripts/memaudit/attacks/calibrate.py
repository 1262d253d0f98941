"""Scores of every attack from a matrix of signals and its membership matrix, by the name of the scoring method.

The aggregation strategies of the study `lira` alone read the fits behind LiRA's scores (`attacks.lira.fitted_blocks`).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memaudit.attacks.combined_score import combined, white_box
from memaudit.attacks.lira import log_likelihood_ratio, offline_score
from memaudit.attacks.per_class_threshold import per_class
from memaudit.attacks.postprocessed_signal import postprocess
from memaudit.attacks.rmia import rmia
from memaudit.attacks.shrunken_variance import student_t_ratio
from memaudit.common.arrays import Array, Floats, Mask
from memaudit.common.errors import AuditError


def _raw(signals: Array, membership: Mask) -> Array:
    return signals


Method = Callable[..., Array]
METHODS: Mapping[str, Method] = {
    "raw": _raw,
    "lira": log_likelihood_ratio,
    "lira_shrunk": student_t_ratio,
    "lira_offline": offline_score,
    "postprocessed": postprocess,
    "rmia": rmia,
    "combined": combined,
    "white_box": white_box,
    "per_class": per_class,
}


def calibrate(
    signals: Floats, membership: Mask, method: str | Method, *, targets: int | None = None, **options: Any
) -> Array:
    """Scores (model, record): higher = more likely a member, every model target in turn and the others its references.

    signals: (model, record[, query]); membership: (model, record), True = record was in that model's training set;
    method: a name of `METHODS`, whose function documents the options, or a function like them. targets: score the first
    models alone, with *all* other models of the matrix as references (oracle access, Jälkö et al. 2026, Appendix A.1).
    Raises AuditError for an unknown method, arrays that do not fit, values that are not finite, or too few models.
    """
    function = METHODS.get(method) if isinstance(method, str) else method
    if function is None:
        raise AuditError(f"calibration method {method!r} is unknown: choose one of {', '.join(METHODS)}")
    signals, membership = np.asarray(signals), np.asarray(membership)
    # Single precision stays as it is: the methods work in double, some records at a time.
    if not np.issubdtype(signals.dtype, np.floating):
        signals = signals.astype(np.float64)
    if membership.dtype != np.bool_ or membership.ndim != 2 or signals.shape[:2] != membership.shape:
        raise AuditError(
            f"signals of shape {signals.shape} and a {membership.dtype} membership matrix of shape {membership.shape}"
            " do not fit: both must be (model, record), the membership matrix of booleans"
        )
    if not np.isfinite(signals).all():
        record = int(np.argwhere(~np.isfinite(signals))[0][1])
        raise AuditError(
            f"record {record} has a signal that is not finite: clip probabilities before taking logarithms"
        )
    return function(signals, membership, **options)[:targets]
