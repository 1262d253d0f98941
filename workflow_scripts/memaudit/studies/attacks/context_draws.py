"""Draws of shadow contexts from a table: halves of the members, and contexts with given shares of a property."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Array32, Mask
from memaudit.common.errors import AuditError
from memaudit.data import membership_matrices

Counts = NDArray[np.uint8]


@dataclass(frozen=True)
class Members:
    """A table's records as contexts are drawn from them, in the order of the table.

    records: columns of the table; columns: names of its features; member: (record,); unit: (record,) privacy unit;
    rank: (record,) place of a member's unit in a random order, -1 for non-members; label: (record,) class codes, or
    numbers in single precision, as models read them.
    """

    records: pd.DataFrame
    columns: Sequence[str]
    member: Mask
    unit: NDArray[np.int64]
    rank: NDArray[np.int64]
    label: NDArray[np.int64] | Array32

    @classmethod
    def of(cls, records: pd.DataFrame, schema: Mapping[str, Any], rng: np.random.Generator) -> "Members":
        """The members of a table; records: with the columns `side` of a split and `target`; rng: of their order."""
        member, unit = (records.side == "members").to_numpy(), membership_matrices.unit_codes(records)
        units = rng.permutation(np.unique(unit[member]))
        rank = np.full(unit.max() + 1, -1)
        rank[units] = np.arange(units.size)
        if schema["task"] == "regression":
            label = records.target.to_numpy(np.float32)
        else:
            label = pd.Index(schema["target"]["categories"], dtype="str").get_indexer(records.target.astype(str))
        columns = [column["name"] for column in schema["columns"]]
        return cls(records, columns, member, unit, np.where(member, rank[unit], -1), label)


@dataclass(frozen=True)
class Draw:
    """One draw of contexts.

    seed, dataset: of the random streams; contexts: their number; block: contexts in which each unit is in exactly half;
    targets: members that stand several times in variants with `copies`; sensitive: column of the property; where: of
    the draw, for messages.
    """

    seed: int
    dataset: str
    contexts: int
    block: int
    targets: int
    sensitive: str
    where: str

    def stream(self, *names: object) -> np.random.Generator:
        """A random stream of this data set."""
        return seeds.generator(self.seed, "attacks", self.dataset, *names)


def halves(members: Members, variant: Mapping[str, Any], draw: Draw) -> tuple[Counts, Mask]:
    """Each unit of the population in half of the contexts: counts (context, record), and queried records (record,).

    A variant with `context` draws from twice as many units, the first of the random order. Raises AuditError for a
    table that has fewer.
    """
    units = members.rank.max() + 1
    if (most := 2 * variant["context"] if variant["context"] else units) > units:
        raise AuditError(
            f"{draw.where}: contexts are drawn from {most} members, the table has {units}; take smaller ones, or leave"
            f" the table out of {draw.where.partition('/variants')[0]}/datasets"
        )
    inside = (members.rank >= 0) & (members.rank < most)
    rng = draw.stream("contexts", variant["population"], variant["context"] or 0)
    counts = np.zeros((draw.contexts, len(inside)), dtype=np.uint8)
    balanced = membership_matrices.balanced(len(counts), most, rng, block=draw.block)
    counts[:, inside] = balanced[:, members.rank[inside]]
    counts[:, inside & (members.rank < draw.targets)] *= variant["copies"]
    return counts, inside | _some(~members.member, inside.sum(), draw.stream("non-members"))


def contexts_of_shares(members: Members, shares: Sequence[float], second: Mask, draw: Draw) -> tuple[Counts, Mask]:
    """Contexts of one size in which a share of the members has the property: counts, and queried records (record,).

    The property is a high or the most frequent value of the sensitive column; second: (context,) contexts of the second
    share. Only non-members are queried: no membership is attacked. Raises AuditError where the column is missing.
    """
    if draw.sensitive not in members.columns:
        raise AuditError(
            f"attacks/inference/sensitive/{draw.dataset}: the table has no column {draw.sensitive!r}; name one it has"
        )
    column = members.records[draw.sensitive]
    value = column > column.median() if pd.api.types.is_numeric_dtype(column) else column.isin(column.mode()[:1])
    having, lacking = (np.flatnonzero(members.member & side) for side in (value.to_numpy(), ~value.to_numpy()))
    size = min(members.member.sum() // 2, int(having.size / max(shares)), int(lacking.size / (1 - min(shares))))
    counts = np.zeros((second.size, members.member.size), dtype=np.uint8)
    rng = draw.stream("shares", *map(str, shares))
    for row, share in zip(counts, np.where(second, shares[1], shares[0]), strict=True):
        with_it = round(share * size)
        row[rng.choice(having, with_it, replace=False)] = 1
        row[rng.choice(lacking, size - with_it, replace=False)] = 1
    return counts, ~members.member


def kept_columns(members: Members, features: int | None, order: int, draw: Draw) -> Mask:
    """Columns that a variant keeps, the first `features` of a random order (None: all), (feature,)."""
    columns = draw.stream("columns", order).permutation(len(members.columns))
    return np.isin(np.arange(columns.size), columns[:features])


def _some(candidates: Mask, most: int, rng: np.random.Generator) -> Mask:
    """At most so many of the candidates: more would not help a small context's attack, and cost as much each."""
    chosen = np.zeros(candidates.size, dtype=bool)
    chosen[rng.permutation(np.flatnonzero(candidates))[:most]] = True
    return chosen
