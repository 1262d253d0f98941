"""Shadow contexts as the models read them: records of a table, encoded; the contexts of a design; the model to ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from memaudit.data.record_encoding import encode, vocabulary
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_json, read_table
from memaudit.models.batched_queries import Question, answer, as_wide
from memaudit.models.model_folder import load
from memaudit.models.model_protocol import TabularModel


@dataclass(frozen=True)
class Contexts:
    """The contexts of one design (model, record) and what they are made of.

    design: variables counts (model, record) and columns (model, feature), see docs/add-an-attack.md; x: (record,
    feature) float32; y: (record,) int64 class codes; schema: of the whole table, with the words of its texts.
    """

    design: xr.Dataset
    x: Tensor
    y: Tensor
    schema: Mapping[str, Any]
    card: str | Path
    threads: int
    _models: dict[bytes, TabularModel] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Number of the target's classes."""
        return len(self.schema["target"]["categories"])

    def rows(self, row: int) -> NDArray[np.intp]:
        """Places of the records in a shadow context, each as often as it stands there."""
        counts = self.design.counts.values[row]
        return np.repeat(np.arange(len(counts)), counts)

    def first(self, sets: int) -> NDArray[np.intp]:
        """Numbers of the first shadow contexts of the design's first variant."""
        variant = self.design.variant.values
        return np.flatnonzero(variant == variant[0])[:sets]

    def targets(self, count: int) -> NDArray[np.intp]:
        """Places of the members that come first in the random order; records of one unit stand together.

        Members that are in no context of the first variant, which may draw from fewer of them, are not among them.
        """
        shown = self.design.counts.values[self.first(len(self.design.variant))].any(0)
        rank = np.where(shown, self.design["rank"].values, -1)
        order = np.argsort(rank, kind="stable")
        return order[(rank[order] >= 0) & (rank[order] < count)]

    def columns(self, row: int) -> NDArray[np.intp]:
        """Places of the columns that a shadow context has."""
        return np.flatnonzero(self.design.columns.values[row])

    def model(self, row: int) -> TabularModel:
        """The model for the columns of a shadow set, opened once. Raises AuditError for contexts that are too large."""
        columns = self.design.columns.values[row]
        if (key := columns.tobytes()) not in self._models:
            chosen = [column for column, kept in zip(self.schema["columns"], columns, strict=True) if kept]
            model = load(self.card, self.threads, {**self.schema, "columns": chosen})
            most = int(self.design.counts.sum("record").max())
            model.limits.check(f"{self.card}, data set {self.design.dataset}", most, len(chosen), self.classes)
            self._models[key] = model
        return self._models[key]

    def ask(
        self,
        row: int,
        queries: Tensor,
        memory: int,
        *,
        context: NDArray[np.intp] | None = None,
        shown: Tensor | None = None,
    ) -> Tensor:
        """What the model says with a shadow context: logits (m, class), -inf for a class that it lacks.

        queries: (m, feature), all the table's columns; memory: MiB, see batching.answer; context: places of records to
        take instead; shown: (record, feature) float32, what the context shows of the records instead of `x`. Raises
        AuditError for a context without records, and a model that answers with what is no number.
        """
        context, columns = self.rows(row) if context is None else context, self.columns(row)
        where = f"{self.card}, data set {self.design.dataset}, variant {str(self.design.variant.values[row])!r}"
        if not len(context):
            raise AuditError(f"{where}: a context has no record; take larger contexts, a smaller layer or fewer bags")
        x = (self.x if shown is None else shown)[context]
        question = Question(x[:, columns], self.y[context], queries[:, columns])
        logits = as_wide(answer(self.model(row), [question], memory)[0], self.classes)
        if logits.isnan().any():
            raise AuditError(f"{where}: an answer is no number; take another model, or leave the table out")
        return logits


def open_contexts(records: str, schema: str, design: str, card: str, threads: int) -> Contexts:
    """Read a table's records and schema, the design of an arm, and find the model by its `model.json`.

    Raises AuditError for a table that the model cannot read.
    """
    grid, table = read_grid(design), read_table(records).set_index("id")
    table = table.loc[grid.record.values]
    words = vocabulary(table, read_json(schema))
    reads_text = any(column["type"] == "text" for column in words["columns"]) and load(card, threads, words).reads_text
    x, y = (torch.from_numpy(part) for part in encode(table, words, reads_text))
    return Contexts(grid, x, y, words, card, threads)
