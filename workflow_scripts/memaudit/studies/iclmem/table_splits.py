"""Splits of a table as tensors, by record role and label condition (ICLMEM, section 4.1).

Features and numeric targets are scaled by the split's reference set: the records drawn as members that are no query,
i.e. context rows and spare ones, with their own labels. It is the same for every model, and for members and
non-members.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from memaudit.attacks.multiple_choice_probe import Reference
from memaudit.common.arrays import Indices
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_json, read_table
from memaudit.data.matched_splits import CONTEXT, NONMEMBER, PLACEBO, QUERY, SPARE
from memaudit.data.member_splits import MEMBERS
from memaudit.data.record_encoding import encode
from memaudit.data.text_hashing import hashed
from memaudit.models.context_query_pairs import Task

CANARIES = "canaries"
HELD_OUT = 50  # most records that early stopping goes by
SCALING = "fixed: by the context rows and the spare members of the split"


@dataclass(frozen=True)
class Split:
    """One split under one label condition.

    By record: facts (id, side, role, order), x (N, d) float32, y (N,) class codes or float32, and true (N,), the labels
    before any was changed. choices: (k,) labels of the whole table, in order; classes: their number, 0 for numbers.
    """

    dataset: str
    number: int
    facts: pd.DataFrame
    x: Tensor
    y: Tensor
    true: Tensor
    choices: NDArray[Any]
    classes: int

    def rows(self, role: str, count: int | None = None) -> Indices:
        """Records of a role in their order, all or the first `count`."""
        places = np.flatnonzero(self.facts.role == role)
        return places[np.argsort(self.facts.order.to_numpy()[places])][:count]

    @property
    def held_out(self) -> Indices:
        """The first HELD_OUT spare records on the members' side: no model trains on them or is judged on them."""
        spare = self.rows(SPARE)
        return spare[(self.facts.side == MEMBERS).to_numpy()[spare]][:HELD_OUT]

    def targets(self, queries: int, context: int) -> Indices:
        """Targets of the probe: the first query members, as many non-members, and the first context rows."""
        return np.concatenate([self.rows(QUERY, queries), self.rows(NONMEMBER, queries), self.rows(CONTEXT, context)])

    def pairs(self, rows: Indices) -> NDArray[np.int64]:
        """Number of the matched pair of each record, of a query member and a non-member, see draw_split; -1 of none."""
        facts = self.facts.iloc[rows]
        return np.where(facts.role.isin([QUERY, NONMEMBER]), facts.order, -1)

    def task(
        self,
        queries: int,
        context: int,
        pairs: str,
        control: bool = False,
        copied: Indices | None = None,
        copies: int = 1,
    ) -> Task:
        """Records that training pairs are drawn from: the first query members and the first `context` context rows.

        Fixed pairs query all of these members in all of that context; random pairs draw queries and context from both;
        random contexts are drawn from the context rows, for the same queries.
        control: whether other records replace the query members, for a negative control. copied, copies: see Task.
        """
        queried = self.rows(PLACEBO if control else QUERY, queries)
        records = np.concatenate([queried, self.rows(CONTEXT, context)])
        return Task(self.x, self.y, records, None if pairs == "random" else queried, copied, copies)

    @property
    def reference(self) -> Reference:
        """The records that features and numeric targets are scaled by."""
        chosen = np.flatnonzero((self.facts.side == MEMBERS) & self.facts.role.isin([CONTEXT, SPARE]))
        return Reference(self.x[chosen], self.true[chosen])


@dataclass(frozen=True)
class Table:
    """A data set and its splits.

    left_out: number of free-text columns that the model does not read; canaries: labels chosen by the reference probe,
    (split, target), for that label condition only.
    """

    dataset: str
    records: pd.DataFrame
    schema: Mapping[str, Any]
    splits: pd.DataFrame
    left_out: int
    canaries: xr.Dataset | None = None

    @property
    def classes(self) -> int:
        """Number of the target's classes, 0 for numbers."""
        return len(self.schema["target"].get("categories", []))

    @cached_property
    def choices(self) -> NDArray[Any]:
        """All labels, in order: class codes, or the different numbers."""
        return np.unique(self.encoded(self.records)[1].numpy())

    def facts(self) -> dict[str, Any]:
        """Attributes of the table in result files: records, columns, number of labels, share of the largest class."""
        majority = self.records["target"].value_counts(normalize=True).iloc[0]
        columns = {"columns": len(self.schema["columns"]), "columns_left_out": self.left_out}
        return columns | {
            "classes": self.classes,
            "majority": float(majority),
            "cardinality": len(self.choices),
            "records": len(self.records),
        }

    def encoded(self, records: pd.DataFrame) -> tuple[Tensor, Tensor]:
        """Features and labels of records."""
        x, y = (torch.from_numpy(part) for part in encode(records, self.schema))
        return x, y if self.classes else y.float()

    def split(self, number: int, labels: str) -> Split:
        """The split of that number under a label condition; canaries keep their true labels until they are chosen."""
        facts = self.splits[self.splits.split == number].reset_index(drop=True)
        rows = self.records.loc[facts.id]
        x, true = self.encoded(rows)
        y = true.clone()
        if labels != CANARIES:
            y = self.encoded(rows.assign(target=facts[f"target_{labels}"].to_numpy()))[1]
        elif self.canaries is not None:
            chosen = self.canaries.sel(split=number)
            y[pd.Index(facts.id).get_indexer(chosen.id.values)] = torch.from_numpy(chosen.label.values).to(y.dtype)
        return Split(self.dataset, number, facts, x, y, true, self.choices, self.classes)


def open_table(dataset: str, records: str, schema: str, splits: str, canaries: str | None, free_text: str) -> Table:
    """A data set from its files; free_text: refuse, leave_out or hash. Raises AuditError if no column is left."""
    facts, rows = read_json(schema), read_table(records).set_index("id")
    if free_text == "hash":
        rows, facts = hashed(rows, facts)
    kept = [column for column in facts["columns"] if not (free_text == "leave_out" and column["type"] == "text")]
    if not kept:
        raise AuditError(
            f"iclmem, data set {dataset}: all columns hold texts that are no categories, which the model cannot read; "
            "leave it out"
        )
    left_out = len(facts["columns"]) - len(kept)
    grid = read_grid(canaries) if canaries else None
    return Table(dataset, rows, {**facts, "columns": kept}, read_table(splits), left_out, grid)
