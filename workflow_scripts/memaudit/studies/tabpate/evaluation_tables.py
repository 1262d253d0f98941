"""Tables of the comparison: records by role, encoded by public facts, with their privacy units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table
from memaudit.data.public_private_split import HELD_OUT, PRIVATE, TEST, nominal_private, roles
from memaudit.data.record_ids import read_key
from memaudit.privacy.public_facts import Public, read_public
from memaudit.privacy.teacher_shards import Context, Numbers, Predict, Private
from memaudit.privacy.teacher_votes import class_answers, differ


@dataclass(frozen=True)
class Table:
    """All records of a table x (n, d), y (n,), their ids and units, and their public schema."""

    public: Public
    records: pd.DataFrame
    x: Array32
    y: NDArray[np.int64] | Array
    units: NDArray[np.str_]
    key: bytes

    @property
    def classes(self) -> int | None:
        """Number of the target's classes, None for a number target."""
        return len(self.public.target.values) if self.public.task == "classification" else None

    def roles(self, settings: Mapping[str, Any], seed: int, repeat: int) -> NDArray[np.str_]:
        """Role of each record in a repeat (record,): private, held out, test, or "" for an unused record."""
        return roles(self.records, settings, seeds.generator(seed, "tabpate", self.public.dataset, "roles", repeat))

    def private(self, role: NDArray[np.str_], settings: Mapping[str, Any], held_out: bool) -> Private:
        """The private records; held_out: without the held-out records, which are public for PromptPATE.

        settings: those of `roles`. They decide the nominal number of records of the public facts, so that it is that
        of the sample, not of the table: a sampling rate or a step size by the table's would be too small.
        """
        private = (role == PRIVATE) | ((role == HELD_OUT) & (not held_out))
        unlabelled = self.x[role == HELD_OUT]
        public = replace(self.public, records=nominal_private(self.public.records, settings, held_out))
        return Private(self.x[private], self.y[private], self.units[private].tolist(), self.key, public, unlabelled)

    def tested(self, role: NDArray[np.str_]) -> NDArray[np.intp]:
        """Positions of the test records."""
        return np.flatnonzero(role == TEST)

    def student_answers(self, context: Context, queries: Numbers, predict: Predict) -> Array32:
        """Logits (query, class), or numbers (query,), of the PATE student: the model with a released context.

        A student whose records have one target, or differ in no feature, predicts their most frequent class, the first
        of equally frequent ones, or their mean. Without records it predicts the first class; with fewer than two, for a
        number target, the middle of the public range.
        """
        if self.classes is not None:
            return class_answers(context, queries, self.classes, predict)
        x, y = context
        if differ(x) and differ(y):
            return predict([(x, y.astype(np.float64))], queries)[0]
        mean = y.mean() if len(y) > 1 else sum(self.public.target.bounds) / 2
        return np.full(len(queries), mean, dtype=np.float32)

    def on_all_records(self, answers: NDArray[Any], places: NDArray[np.intp]) -> Array32:
        """Answers (place, ...) as (record, ...), NaN for all other records."""
        everywhere = np.full((len(self.x), *answers.shape[1:]), np.nan, dtype=np.float32)
        everywhere[places] = answers
        return everywhere


def open_table(records: str, schema: str, public: str, key: str) -> Table:
    """Read a table's records, its columns' types, its public facts and the run's key.

    Raises AuditError for public facts that do not fit the table.
    """
    table = read_table(records)
    facts = read_public(public, {column["name"]: column["type"] for column in read_json(schema)["columns"]})
    x, y, kept = facts.encode(table)
    if not kept.all():
        raise AuditError(f"{public}: target: {int((~kept).sum())} records have a class that it does not list; add it")
    units = table["group" if "group" in table else "id"].astype(str).to_numpy()
    return Table(facts, table, x, y, units, read_key(key))
