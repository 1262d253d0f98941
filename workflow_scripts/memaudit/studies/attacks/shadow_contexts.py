"""Shadow contexts as models read them: encoded records of a table, the drawn contexts, and the model to query."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_json, read_table
from memaudit.data.record_encoding import encode, vocabulary
from memaudit.models.anonymous_keys import hiding_rows
from memaudit.models.batched_queries import Question, answer, as_wide
from memaudit.models.class_hierarchy import for_classes
from memaudit.models.model_folder import load
from memaudit.models.model_protocol import TabularModel


@dataclass(frozen=True)
class Contexts:
    """Drawn contexts, with the encoded records and the model.

    drawn: variables counts (model, record) and columns (model, feature), see docs/add-an-attack.md; x: (record,
    feature) float32; y: (record,) int64 class codes, or float32 numbers; schema: of the whole table, with the words of
    its texts.
    """

    drawn: xr.Dataset
    x: Tensor
    y: Tensor
    schema: Mapping[str, Any]
    card: str | Path
    threads: int
    _models: dict[tuple[bytes, int], TabularModel] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Number of the target's classes; 0 for a number."""
        return 0 if self.predicts_numbers else len(self.schema["target"]["categories"])

    @property
    def predicts_numbers(self) -> bool:
        """Whether the target is a number."""
        return self.schema["task"] == "regression"

    def rows(self, row: int) -> NDArray[np.intp]:
        """Places of the records in a shadow context, each as often as it stands there."""
        counts = self.drawn.counts.values[row]
        return np.repeat(np.arange(len(counts)), counts)

    def first(self, sets: int) -> NDArray[np.intp]:
        """Numbers of the first shadow contexts of the first variant."""
        variant = self.drawn.variant.values
        return np.flatnonzero(variant == variant[0])[:sets]

    def seen_inside(self, sets: int) -> NDArray[np.intp]:
        """Numbers of the first shadow contexts of the first variant and of each one that changes keys."""
        drawn = self.drawn
        read = (drawn.variant.values == drawn.variant.values[0]) | (drawn.anonymity.values > 1)
        return np.flatnonzero(read & (drawn["set"].values < sets))

    def targets(self, count: int) -> NDArray[np.intp]:
        """Places of the members that come first in the random order; records of one unit stand together.

        Members that are in no context of the first variant, which may draw from fewer of them, are not among them.
        """
        drawn = self.drawn.counts.values[self.first(len(self.drawn.variant))].any(0)
        rank = np.where(drawn, self.drawn["rank"].values, -1)
        order = np.argsort(rank, kind="stable")
        return order[(rank[order] >= 0) & (rank[order] < count)]

    def columns(self, row: int) -> NDArray[np.intp]:
        """Places of the columns that a shadow context has."""
        return np.flatnonzero(self.drawn.columns.values[row])

    def model(self, row: int) -> TabularModel:
        """The model for a shadow context's columns and keys, opened once.

        Raises AuditError for contexts that are too large, and for a model whose keys cannot be changed.
        """
        columns, anonymity = self.drawn.columns.values[row], int(self.drawn.anonymity[row])
        if (key := (columns.tobytes(), anonymity)) not in self._models:
            chosen = [column for column, kept in zip(self.schema["columns"], columns, strict=True) if kept]
            model = for_classes(load(self.card, self.threads, {**self.schema, "columns": chosen}), self.classes)
            most = int(self.drawn.counts.sum("record").max())
            model.limits.check(f"{self.card}, data set {self.drawn.dataset}", most, len(chosen), self.classes)
            self._models[key] = hiding_rows(model, anonymity, str(self.card)) if anonymity > 1 else model
        return self._models[key]

    def query(
        self,
        row: int,
        queries: Tensor,
        memory: int,
        *,
        context: NDArray[np.intp] | None = None,
        values: Tensor | None = None,
    ) -> Tensor:
        """Logits of the model with a shadow context (m, class), -inf for a class that it lacks.

        queries: (m, feature), all the table's columns; memory: MiB, see batching.answer; context: places of records to
        take instead; values: (record, feature) float32, of the records in the context instead of `x`. Raises
        AuditError for a context without records, and answers that are not numbers.
        """
        question = self.question(row, queries, context, values)
        logits = as_wide(answer(self.model(row), [question], memory)[0], self.classes)
        self._check_numbers(row, logits)
        return logits

    def densities(
        self,
        row: int,
        queries: Tensor,
        truth: Tensor,
        memory: int,
        *,
        context: NDArray[np.intp] | None = None,
        values: Tensor | None = None,
    ) -> Tensor:
        """Answers of a regressor with a shadow context: log density of the true number, and prediction (m, 2) float64.

        queries, memory, context, values: as for `query`; truth: (m,) true numbers. The density is NaN of a model that
        predicts points alone (`sklearn_estimators`). Raises AuditError as `query` does.
        """
        question, model = self.question(row, queries, context, values), self.model(row)
        if getattr(model, "points_alone", False):
            tables = question.context_x, question.context_y, question.query_x
            (predicted,) = model.points(*(table[None] for table in tables))
            density = torch.full_like(predicted, torch.nan)
        else:
            binned = answer(model, [question], memory)[0]
            predicted, density = binned.mean().double(), binned.log_density(truth[:, None].double())[:, 0].double()
            self._check_numbers(row, density)
        self._check_numbers(row, predicted)
        return torch.stack([density, predicted], -1)

    def question(
        self,
        row: int,
        queries: Tensor,
        context: NDArray[np.intp] | None = None,
        values: Tensor | None = None,
    ) -> Question:
        """The tables of `query`. Raises AuditError for a context without records."""
        context, columns = self.rows(row) if context is None else context, self.columns(row)
        if not len(context):
            raise AuditError(
                f"{self._where(row)}: a context has no record; take larger contexts, a smaller layer or fewer bags"
            )
        x = (self.x if values is None else values)[context]
        return Question(x[:, columns], self.y[context], queries[:, columns])

    def _check_numbers(self, row: int, answers: Tensor) -> None:
        if answers.isnan().any():
            raise AuditError(
                f"{self._where(row)}: an answer is not a number; take another model, or leave the table out"
            )

    def _where(self, row: int) -> str:
        return f"{self.card}, data set {self.drawn.dataset}, variant {str(self.drawn.variant.values[row])!r}"


def open_contexts(records: str, schema: str, design: str, card: str, threads: int, sets: int | None = None) -> Contexts:
    """Read a table's records and schema, drawn contexts, and the model of its `model.json`.

    sets: shadow contexts of each variant that are taken, the first ones; None: all. Raises AuditError for a table that
    the model cannot read, and for fewer drawn contexts.
    """
    grid, table = read_grid(design), read_table(records).set_index("id")
    if sets is not None:
        if (drawn := int(grid["set"].max()) + 1) < sets:
            raise AuditError(f"{design}: {drawn} contexts are drawn and {sets} needed; draw more")
        grid = grid.isel(model=grid["set"].values < sets)
    table = table.loc[grid.record.values]
    words = vocabulary(table, read_json(schema))
    reads_text = any(column["type"] == "text" for column in words["columns"]) and load(card, threads, words).reads_text
    x, y = (torch.from_numpy(part) for part in encode(table, words, reads_text))
    if y.is_floating_point():
        y = y.float()
    return Contexts(grid, x, y, words, card, threads)
