"""Thresholds per class of the true label (Song and Mittal 2021), all chosen at one false positive rate."""

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError


def per_class(signals: Array, membership: Mask, *, labels: Codes) -> Array:
    """Share of the OUT entries with this label whose signal is lower, ties counted half: one minus the class's FPR.

    A threshold on this score is a threshold per class on the signal, at the same FPR for every class; within a class
    the order is that of the signal. The target model's own entries are among the references, as they are where one
    threshold is used for all entries: without them, equal signals of different targets get scores that differ a little,
    members the lower ones (AUC .494 of yes or no without a leak, 64 models, three classes; with them .500). signals,
    membership: (model, record); labels: (record,) codes of the true classes. Returns (model, record) in [0, 1]. Raises
    AuditError where the labels do not fit, or where no model is without a record of the class.
    """
    if np.shape(labels) != membership.shape[1:]:
        raise AuditError(
            f"{np.shape(labels)} labels and a membership matrix of shape {membership.shape} do not fit: one per record"
        )
    scores = np.empty(membership.shape)
    for label in np.unique(labels):
        of_class = labels == label
        outside = np.sort(signals[:, of_class][~membership[:, of_class]])
        if not outside.size:
            record = int(np.argmax(of_class))
            raise AuditError(f"no model is without a record of the class of record {record}: raise the models")
        lower, not_above = (np.searchsorted(outside, signals[:, of_class], side) for side in ("left", "right"))
        scores[:, of_class] = (lower + not_above) / (2 * outside.size)
    return scores
