"""Students of private releases on shadow sets, half of the private records each: who was in which? (TabPATE, 5.3)

The adversary knows more here than the paper's: in all shadow sets an arm has the same queries, which whoever has a
released context sees, and the same key of the teachers' shards. Noise alone is new in each release, and not known.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit import seeds
from memaudit.arrays import Indices
from memaudit.data import membership_matrices
from memaudit.data.record_roles import PRIVATE
from memaudit.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import CONTEXTS, NO_LEDGER, Private, released
from memaudit.privacy.tabpate_release import Ask, Numbers, Targets
from memaudit.studies.tabpate.evaluation_tables import Table

NON_PRIVATE = "non_private"
BLOCK = 8  # sets; every record is in half of each block


@dataclass(frozen=True)
class Shadows:
    """Shadow sets of one table, for all arms the same, and what is released from them.

    arms: entries by name; `non_private`, which is none of them, shows the records themselves. role: (record,) in repeat
    0; membership: (set, record) of the table, whether a record is in the set's half of the private records.
    """

    table: Table
    arms: Mapping[str, Mapping[str, Any]]
    delta: float
    seed: int
    role: NDArray[np.str_]
    membership: NDArray[np.bool_]

    @property
    def largest(self) -> int:
        """Private records of the largest set."""
        return int(self.membership.sum(1).max())

    def private(self, number: int) -> Private:
        """What the methods are given of a set."""
        inside, whole = self.membership[number], self.table.private(self.role, held_out=True)
        return replace(whole, x=self.table.x[inside], y=self.table.y[inside], units=self.table.units[inside].tolist())

    def answers(
        self, arm: str, epsilon: float | None, private: Private, queries: Numbers, ask: Ask
    ) -> NDArray[np.float32]:
        """Logits (query, class) of the student that is shown what the whole mechanism releases, or its own answers.

        A context of one class, or none, makes a student that says this class, or the first one. A method that answers
        queries at a price has one budget for all of them.
        """
        if arm != NON_PRIVATE and self.arms[arm]["method"] not in CONTEXTS:
            seed = seeds.integer(self.seed, "tabpate", self.table.public.dataset, "shadow answers", arm)
            return answered(self.arms[arm], private, Budget(epsilon, self.delta), queries, ask, seed).astype(np.float32)
        x, y = self._context(arm, epsilon, private, ask)
        if len(np.unique(y)) > 1:
            return ask([(x.astype(np.float32), y.astype(np.int64))], queries)[0]
        only = np.where(np.arange(self.table.classes) == (y[0] if len(y) else 0), 0.0, -np.inf)
        return np.tile(only.astype(np.float32), (len(queries), 1))

    def grid(self, sets: Sequence[int], pairs: Sequence[tuple[str, float | None]], asked: Indices) -> xr.Dataset:
        """`design` (release, record) of the records asked about, with coordinates; releases by set, then by pair."""
        arms, epsilons = zip(*(list(pairs) * len(sets)), strict=True)
        of_release = {
            "arm": list(arms),
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
            {"design": (("release", "record"), np.repeat(self.membership[np.ix_(sets, asked)], len(pairs), axis=0))},
            {name: ("release", values) for name, values in of_release.items()}
            | {name: ("record", values[asked]) for name, values in of_record.items()},
            {"dataset": self.table.public.dataset, "ledger": NO_LEDGER},
        )

    def _context(self, arm: str, epsilon: float | None, private: Private, ask: Ask) -> tuple[Numbers, Targets]:
        if arm == NON_PRIVATE:
            return private.x, private.y
        # Neither the set nor epsilon is in the name: queries are the same, and so are the teachers' answers.
        rng = seeds.generator(self.seed, "tabpate", self.table.public.dataset, "shadow queries", arm)
        found = released(self.arms[arm], private, Budget(epsilon, self.delta), ask, rng)
        return found.x, found.y


def draw(table: Table, wanted: Any) -> Shadows:
    """Shadow sets, each unit of records in half of every block of sets: the first sets of more are these.

    wanted: a job's params, of them seed, sets, roles, arms and delta. Raises AuditError for a number target, and for
    sets that are no whole blocks.
    """
    where = f"tabpate, data set {table.public.dataset}"
    if table.classes is None:
        raise AuditError(f"{where}: the target is a number; LiRA asks how sure students are of a class, leave it out")
    if wanted.sets % BLOCK:
        raise AuditError(f"{where}: {wanted.sets} shadow sets are no whole blocks; take a multiple of {BLOCK}")
    role = table.roles(wanted.roles, wanted.seed, 0)
    members = np.flatnonzero(role == PRIVATE)
    units = np.unique(table.units[members], return_inverse=True)[1]
    rng = seeds.generator(wanted.seed, "tabpate", table.public.dataset, "shadow sets")
    design = np.zeros((wanted.sets, len(role)), dtype=bool)
    design[:, members] = membership_matrices.expand(
        membership_matrices.balanced(wanted.sets, units.max() + 1, rng, BLOCK), units
    )
    return Shadows(table, wanted.arms, wanted.delta, wanted.seed, role, design)


@dataclass
class Remembered:
    """A model's answers by content. Releases that share queries and shards, whatever their noise, ask once."""

    ask: Ask
    _said: dict[tuple[bytes, bytes], NDArray[np.float32]] = field(default_factory=dict)

    def __call__(self, contexts: Sequence[tuple[Numbers, Targets]], queries: Numbers) -> NDArray[np.float32]:
        """See Ask."""
        asked = _digest(queries)
        named = [(asked, _digest(*context)) for context in contexts]
        new = {name: context for name, context in zip(named, contexts, strict=True) if name not in self._said}
        if new:
            self._said |= zip(new, self.ask(list(new.values()), queries), strict=True)
        return np.stack([self._said[name] for name in named])


def _digest(*arrays: NDArray[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.digest()
