"""Disjoint shards of the private records, one for each teacher (TabPATE, Section 4 and Algorithm 1, line 1)."""

import hmac
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.errors import AuditError


def shards_of(units: Sequence[str], key: bytes, teachers: int) -> NDArray[np.int64]:
    """Shard of each record (record,), in 0 ... teachers - 1: HMAC-SHA-256 of its unit's id, modulo the teachers.

    units: id of the unit (person, household, else record) that each record belongs to. A record's shard depends on its
    own unit alone, so that adding or removing a unit changes one shard. A shuffle or a split that is stratified or made
    equal in size moves the other records, too, and the proof fails: shards may be unequal, and empty.
    """
    if not key:
        raise AuditError("the key of the teachers' shards is empty; take the run's key")
    if teachers < 1:
        raise AuditError(f"records cannot be parted among {teachers} teachers; take at least one")
    digests = (hmac.digest(key, unit.encode(), "sha256") for unit in units)
    return np.fromiter((int.from_bytes(digest) % teachers for digest in digests), np.int64, len(units))
