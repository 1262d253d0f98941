"""Disjoint shards of the private records, one for each PATE teacher (TabPATE, Section 4 and Algorithm 1, line 1)."""

import hmac
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.errors import AuditError


def shards_of(units: Sequence[str], key: bytes, teachers: int) -> NDArray[np.int64]:
    """Shard of each record (record,), in 0 ... teachers - 1: HMAC-SHA-256 of its unit's id, modulo the teachers.

    units: id of the unit (person, household, else record) that each record belongs to. A record's shard depends on its
    own unit alone, so that adding or removing a unit changes one shard. A shuffle, or a split that is stratified or
    of equal sizes, would move other records, too, and the proof would fail: shards may be unequal, and empty.
    """
    if not key:
        raise AuditError("the key of the shards is empty; use the key of the run")
    if teachers < 1:
        raise AuditError(f"records cannot be divided among {teachers} PATE teachers; use at least one")
    digests = (hmac.digest(key, unit.encode(), "sha256") for unit in units)
    return np.fromiter((int.from_bytes(digest) % teachers for digest in digests), np.int64, len(units))
