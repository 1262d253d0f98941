"""Membership matrices: bool arrays (model, record), True where the record is in the model's training set or context.

A matrix is drawn once and stored; a shard of models reads its rows. So nothing depends on the shard size. A `Scheme`
redraws a stored matrix as it was drawn, for randomisation tests.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError


def balanced(models: int, records: int, rng: np.random.Generator, block: int | None = None) -> Mask:
    """Put each record into exactly half of the models, those with the smaller uniforms (Carlini et al. 2022).

    With `block`, in half of each consecutive block of that many models: then every prefix of whole blocks is balanced,
    and the first models of a larger matrix are the smaller one. Raises AuditError for an odd or a partial block.
    """
    block = block or models
    _at_least_two(models)
    if block % 2 or models % block:
        raise AuditError(
            f"a balanced membership matrix needs an even number of models in whole blocks, not {models} in {block}s"
        )
    return np.concatenate(
        [
            np.argsort(np.argsort(rng.random((block, records)), axis=0), axis=0) < block // 2
            for _ in range(models // block)
        ]
    )


def bernoulli(models: int, records: int, rng: np.random.Generator, p: float = 0.5) -> Mask:
    """Put each record into each model with probability p, independently. Raises AuditError for p outside (0, 1)."""
    _at_least_two(models)
    if not 0 < p < 1:
        raise AuditError(f"the probability of membership must lie between 0 and 1, not {p}")
    return rng.random((models, records)) < p


def fixed_size(models: int, records: int, size: int, rng: np.random.Generator) -> Mask:
    """Give each model exactly `size` records, drawn without replacement. Raises AuditError if size > records."""
    _at_least_two(models)
    if not 0 < size <= records:
        raise AuditError(f"{size} of {records} records cannot be drawn for each model")
    member = np.zeros((models, records), dtype=bool)
    for row in member:
        row[rng.choice(records, size, replace=False)] = True
    return member


class Scheme(NamedTuple):
    """The random scheme of a membership matrix: `redraw` is uniform over the matrices that keep what the scheme keeps.

    keeps: "columns": every unit, independently of the others, keeps its number of models in each block (`balanced` with
    its block; `bernoulli` given the number of models of each unit; one model of each pair as blocks of 2); "rows":
    every model keeps its number of units (`fixed_size`). block: consecutive models of a block; None: all models.
    """

    keeps: Literal["columns", "rows"] = "columns"
    block: int | None = None

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> "Scheme":
        """The scheme of a score matrix, from its attributes `draw` (balanced if missing) and `block` (if balanced)."""
        draw, block = attributes.get("draw", "balanced"), attributes.get("block")
        return cls("rows" if draw == "fixed_size" else "columns", int(block) if block and draw == "balanced" else None)

    def of_first(self, models: int) -> "Scheme":
        """The scheme of the first models alone: fewer than a block are not balanced."""
        return self._replace(block=self.block if self.block and models % self.block == 0 else None)

    def redraw(self, member: Mask, units: NDArray[np.int64] | None, rng: np.random.Generator) -> Mask:
        """A membership matrix (model, record) that is as likely as `member` (model, record) under the scheme.

        units: (record,) any codes; records of a unit are in together; None: every record is one. Raises AuditError for
        a partial block.
        """
        models = len(member)
        block = self.block or models
        if models % block:
            raise AuditError(f"{models} models cannot be redrawn in blocks of {block}: take whole blocks")
        if units is None:
            return self._redraw_units(member, block, rng)
        _, first, of_record = np.unique(units, return_index=True, return_inverse=True)
        return expand(self._redraw_units(member[:, first], block, rng), of_record)

    def _redraw_units(self, member: Mask, block: int, rng: np.random.Generator) -> Mask:
        if self.keeps == "rows":
            return rng.permuted(member, axis=1)
        # One unit's models side by side: several times faster than along the columns.
        blocks = np.ascontiguousarray(member.T).reshape(-1, block)
        return rng.permuted(blocks, axis=1).reshape(member.shape[::-1]).T


COLUMNS = Scheme()  # every unit is in as many of all models as it was


def unit_codes(records: pd.DataFrame) -> NDArray[np.int64]:
    """Return the number of each record's privacy unit: its group, in order of appearance, or the record itself."""
    return pd.factorize(records["group"])[0] if "group" in records else np.arange(len(records))


def expand(member: Mask, units: NDArray[np.int64]) -> Mask:
    """Expand membership (model, unit) to (model, record): records of one unit are in together. units: (record,)."""
    if member.shape[1] != units.max() + 1:
        raise ValueError(f"a membership matrix of {member.shape[1]} units, but records of {units.max() + 1}")
    return member[:, units]


def of_next_unit(member: Mask, units: NDArray[np.int64], rng: np.random.Generator) -> Mask:
    """Give each unit the membership (model, record) of another one, the next in a random cycle of all units.

    In a cycle no two units exchange their columns, which would count the product of their memberships twice. units:
    (record,). Raises AuditError for fewer than 3 units.
    """
    _, first, of_record = np.unique(units, return_index=True, return_inverse=True)
    if len(first) < 3:
        raise AuditError(f"the memberships of {len(first)} units cannot be exchanged in a cycle: 3 are needed")
    order = rng.permutation(len(first))
    following = np.empty_like(order)
    following[order] = np.roll(order, -1)
    return member[:, first[following]][:, of_record]


def _at_least_two(models: int) -> None:
    if models < 2:
        raise AuditError(f"a membership matrix needs at least 2 models, not {models}")
