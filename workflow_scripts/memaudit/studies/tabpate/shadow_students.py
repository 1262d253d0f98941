"""PATE students of private releases on shadow contexts, half of the private records each (TabPATE, Section 5.3).

The adversary is stronger than in the paper: a condition has the same queries in all shadow contexts, as anybody with a
released context sees them, and the same key of the teachers' shards. Only the noise is fresh and unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Array32, Indices, Mask
from memaudit.common.checksums import array_hash
from memaudit.common.errors import AuditError
from memaudit.data import membership_matrices
from memaudit.data.public_private_split import PRIVATE
from memaudit.privacy.accounting import Budget
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import CONTEXTS, NO_LEDGER, released
from memaudit.privacy.teacher_shards import Context, Numbers, Predict, Private
from memaudit.studies.tabpate.evaluation_tables import Table

NON_PRIVATE = "non_private"
BLOCK = 8  # shadow contexts; every private record is in half of each block


@dataclass(frozen=True)
class Shadows:
    """Shadow contexts of one table, the same for all conditions, and the releases from them.

    arms: entries of the conditions by name; `non_private` is not among them, its context is the records themselves.
    role: (record,) in repeat 0, drawn by the settings `roles`; membership: (set, record), whether a record is in this
    half of the private records.
    """

    table: Table
    arms: Mapping[str, Mapping[str, Any]]
    delta: float
    seed: int
    role: NDArray[np.str_]
    membership: Mask
    roles: Mapping[str, Any]

    @property
    def largest(self) -> int:
        """Number of private records of the largest shadow context."""
        return int(self.membership.sum(1).max())

    def private(self, number: int) -> Private:
        """Private records of a shadow context, the input of the methods."""
        members, whole = self.membership[number], self.table.private(self.role, self.roles, held_out=True)
        x, y, units = self.table.x[members], self.table.y[members], self.table.units[members].tolist()
        public = replace(whole.public, records=max(1, whole.public.records // 2))
        return replace(whole, x=x, y=y, units=units, public=public)

    def answers(
        self, condition: str, epsilon: float | None, private: Private, queries: Numbers, predict: Predict
    ) -> Array32:
        """Logits (query, class) of the PATE student with the released context, or the answers of a method without one.

        A method that answers queries directly has one budget for all of them.
        """
        if condition != NON_PRIVATE and self.arms[condition]["method"] not in CONTEXTS:
            seed = seeds.integer(self.seed, "tabpate", self.table.public.dataset, "shadow answers", condition)
            return answered(self.arms[condition], private, Budget(epsilon, self.delta), queries, predict, seed).astype(
                np.float32
            )
        return self.table.student_answers(self._context(condition, epsilon, private, predict), queries, predict)

    def grid(self, sets: Sequence[int], pairs: Sequence[tuple[str, float | None]], queried: Indices) -> xr.Dataset:
        """Membership matrix (release, record) of the queried records; releases by shadow context, then by pair."""
        conditions, epsilons = zip(*(list(pairs) * len(sets)), strict=True)
        of_release = {
            "arm": list(conditions),
            "epsilon": [np.inf if epsilon is None else float(epsilon) for epsilon in epsilons],
            "set": np.repeat(sets, len(pairs)),
        }
        of_record = {
            "record": self.table.records["id"].to_numpy(dtype=str),
            "label": self.table.y,
            "unit": membership_matrices.unit_codes(self.table.records),
            "member": self.role == PRIVATE,
        }
        return xr.Dataset(
            {"design": (("release", "record"), np.repeat(self.membership[np.ix_(sets, queried)], len(pairs), axis=0))},
            {name: ("release", values) for name, values in of_release.items()}
            | {name: ("record", values[queried]) for name, values in of_record.items()},
            {"dataset": self.table.public.dataset, "block": BLOCK, "ledger": NO_LEDGER},
        )

    def _context(self, condition: str, epsilon: float | None, private: Private, predict: Predict) -> Context:
        if condition == NON_PRIVATE:
            return private.x, private.y
        # The seed depends neither on the set nor on epsilon: queries are the same, so that predictions can be cached.
        rng = seeds.generator(self.seed, "tabpate", self.table.public.dataset, "shadow queries", condition)
        context = released(self.arms[condition], private, Budget(epsilon, self.delta), predict, rng)
        return context.x, context.y


def draw(table: Table, params: Any) -> Shadows:
    """Shadow contexts with each privacy unit in half of every block; more contexts begin with the same ones.

    params: of a job; seed, sets, roles, arms and delta are used. Raises AuditError for a number target, and for a
    number of contexts that is no multiple of `BLOCK`.
    """
    where = f"tabpate, data set {table.public.dataset}"
    if table.classes is None:
        raise AuditError(f"{where}: the target is a number; LiRA needs class probabilities, leave it out")
    if params.sets % BLOCK:
        raise AuditError(f"{where}: {params.sets} shadow contexts do not fill whole blocks; use a multiple of {BLOCK}")
    role = table.roles(params.roles, params.seed, 0)
    members = np.flatnonzero(role == PRIVATE)
    units = np.unique(table.units[members], return_inverse=True)[1]
    rng = seeds.generator(params.seed, "tabpate", table.public.dataset, "shadow sets")
    membership = np.zeros((params.sets, len(role)), dtype=bool)
    membership[:, members] = membership_matrices.expand(
        membership_matrices.balanced(params.sets, units.max() + 1, rng, BLOCK), units
    )
    return Shadows(table, params.arms, params.delta, params.seed, role, membership, params.roles)


@dataclass
class CachedPredictions:
    """Predictions of a model, cached by content: releases that share queries and shards compute them once."""

    predict: Predict
    _cache: dict[tuple[bytes, bytes], Array32] = field(default_factory=dict)

    def __call__(self, contexts: Sequence[Context], queries: Numbers) -> Array32:
        """Predictions for each context, as of `Predict`."""
        key = array_hash(queries)
        named = [(key, array_hash(*context)) for context in contexts]
        new = {name: context for name, context in zip(named, contexts, strict=True) if name not in self._cache}
        if new:
            self._cache |= zip(new, self.predict(list(new.values()), queries), strict=True)
        return np.stack([self._cache[name] for name in named])
