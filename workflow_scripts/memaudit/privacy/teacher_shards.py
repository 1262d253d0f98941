"""Private records and their disjoint shards, one for each PATE teacher (TabPATE, Section 4, Algorithm 1, line 1)."""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.privacy.public_facts import Public

Numbers = Array32
Targets = NDArray[np.int64] | Array
Context = tuple[Numbers, Targets]
# Contexts and queries in, logits (context, query, class) or predictions (context, query) out.
Predict = Callable[[Sequence[Context], Numbers], Array32]


@dataclass(frozen=True)
class Private:
    """Private records x (n, d), y (n,) of units (n,), in the form of `Public.encode`, and public records.

    key: secret key of the shards; unlabelled: public records (m, d), the queries of PromptPATE.
    """

    x: Numbers
    y: Targets
    units: Sequence[str]
    key: bytes
    public: Public
    unlabelled: Numbers | None = None

    def teacher_contexts(self, teachers: int) -> list[Context]:
        """The shard of each teacher as its context."""
        shards = shards_of(self.units, self.key, teachers)
        return [(self.x[shards == shard], self.y[shards == shard]) for shard in range(teachers)]


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
