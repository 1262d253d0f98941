"""Thresholds per class of the true label (Song and Mittal 2021), all chosen at one false positive rate."""

import numpy as np
from numpy.typing import NDArray

from memaudit.calibration.gaussian import Array, Mask
from memaudit.errors import AuditError

Codes = NDArray[np.integer]


def per_class(signals: Array, design: Mask, *, labels: Codes) -> Array:
    """Share of the OUT cells with this label whose signal is lower, ties counted half: one minus the class's FPR.

    A threshold on this score is a threshold per class on the signal, at the same FPR for every class. The cells of the
    target model itself are never among its references. signals, design: (model, record); labels: (record,) codes of the
    true classes. Returns (model, record) in [0, 1]. Raises AuditError where the labels do not fit, or where no other
    model is without a record of the class.
    """
    if np.shape(labels) != design.shape[1:]:
        raise AuditError(f"{np.shape(labels)} labels and a design of shape {design.shape} do not fit: one per record")
    models, codes = np.arange(len(design))[:, None], np.unique(labels, return_inverse=True)[1]
    # Places among the distinct values: equal signals stay equal, and one integer holds class, model and place.
    places = np.unique(signals, return_inverse=True)[1].reshape(design.shape)
    lower, count = _among_outside(places, np.broadcast_to(codes, design.shape), ~design)
    own_lower, own_count = _among_outside(places, codes * len(design) + models, ~design)
    if (count == own_count).any():
        record = int(np.argwhere(count == own_count)[0][1])
        raise AuditError(f"no other model is without a record of the class of record {record}: raise the models")
    return (lower - own_lower) / (count - own_count)


def _among_outside(places: Codes, group: Codes, outside: Mask) -> tuple[Array, Codes]:
    """Of every cell: OUT cells of its group that are lower, ties counted half; and all OUT cells of its group."""
    distinct = places.max() + 1
    keys = group * distinct + places
    ordered = np.sort(keys[outside])
    count = np.bincount(group[outside], minlength=group.max() + 1)
    first = np.cumsum(count) - count
    lower = (np.searchsorted(ordered, keys, "left") + np.searchsorted(ordered, keys, "right")) / 2
    return lower - first[group], count[group]
