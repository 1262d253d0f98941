"""Attribute inference: the value of a sensitive column with which the model is most confident in a record's label.

The adversary knows a member's record but for one column, and its label, and queries the record with every candidate
value (Fredrikson et al. 2014; Yeom et al. 2018, Section 4).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from memaudit.attacks.signals import loss
from memaudit.common.arrays import Array, Array32, Floats, Mask
from memaudit.common.errors import AuditError

KEY = "attacks/inference/sensitive"


@dataclass(frozen=True)
class Candidates:
    """Values that are tried: (level,) each.

    value: as models read it; bin: number of the answer that it stands for; prior: probability of the value, sums to 1.
    median: the border of a numeric column's two bins; None where every category is a bin.
    """

    value: Array
    bin: NDArray[np.int64]
    prior: Array
    median: float | None = None

    def truth(self, values: Floats) -> NDArray[np.int64]:
        """Bins of true values (record,), none missing."""
        return (values if self.median is None else values > self.median).astype(np.int64)


def place(schema: Mapping[str, Any], shown: Mask, dataset: str, name: str) -> int:
    """Place of the sensitive column in the schema; shown: (feature,) whether the contexts have the column.

    Raises AuditError for a column that they lack, or that is free text.
    """
    names = [column["name"] for column in schema["columns"]]
    if name not in (there := [names[i] for i in np.flatnonzero(shown)]):
        raise AuditError(f"{KEY}/{dataset}: the contexts have no column {name!r}; name one of {', '.join(there)}")
    if schema["columns"][names.index(name)]["type"] == "text":
        raise AuditError(f"{KEY}/{dataset}: column {name!r} holds texts that are no categories; name another")
    return names.index(name)


def candidates(column: Mapping[str, Any], reference: Floats, levels: int) -> Candidates:
    """Candidate values of a column of the schema; reference: (record,) its values in the adversary's own records.

    Categories are their own bins; a prior is the category's share there, one added to each count. Of numbers (and
    dates) the middles of `levels` equally filled bins are tried, equally likely each; bin 1 is above the median. Raises
    AuditError where no level is above it.
    """
    known = np.sort(reference[~np.isnan(reference)].astype(np.float64))
    if column["type"] == "categorical":
        size = len(column["categories"])
        counts = 1 + np.bincount(known.astype(np.intp), minlength=size)
        return Candidates(np.arange(size, dtype=np.float64), np.arange(size), counts / counts.sum())
    if not known.size:
        raise AuditError(f"{KEY}: column {column['name']!r} is missing in all non-members; name another")
    # The median is the lower of two, and levels are rounded down too: so half of them, or one less, are above it.
    values = known[((2 * np.arange(levels) + 1) * known.size - 1) // (2 * levels)]
    median = float(known[(known.size - 1) // 2])
    above = (values > median).astype(np.int64)
    if not above.any():
        raise AuditError(f"{KEY}: half of the non-members have the largest {column['name']!r}; name another column")
    return Candidates(values, above, np.full(levels, 1 / levels), median)


def queries(records: Floats, column: int, values: Floats) -> Array32:
    """Every record (record, feature) with each of the values in one column: (record, level, feature)."""
    asked = np.repeat(records[:, None], len(values), axis=1).astype(np.float32)
    asked[..., column] = values
    return asked


def scores(logits: Floats, label: NDArray[np.integer], bin: NDArray[np.integer], prior: Floats) -> Array:
    """Log posterior of each bin: log of the sum over its levels of prior times p(true label), less that of all bins.

    logits: (..., level, class), -inf for a class that the context lacks; label: broadcasts to (...); bin, prior:
    (level,). Returns (..., bin), in nats. A label that no value makes possible tells nothing: the prior remains.
    """
    labels = np.broadcast_to(np.asarray(label)[..., None], logits.shape[:-1])
    likelihood = -loss(logits, labels)
    possible = np.isfinite(likelihood).any(-1, keepdims=True)
    weighted = np.where(possible, likelihood, 0) + np.log(prior)
    joint = np.stack([logsumexp(weighted[..., bin == number], axis=-1) for number in range(bin.max() + 1)], -1)
    return joint - logsumexp(joint, axis=-1, keepdims=True)
