"""Splits of a table as fine-tuning and the probe take them (ICLMEM, sections 4.1 and 4.2).

What a target is asked follows from the master seed, its data set, its split and its id alone: no arm, epoch or shard
changes it. Cells and numbers are scaled by the split's reference set: the records of the members' side that are no
query, context rows and spare ones, with their own labels. It is the same for every model and for both sides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from memaudit import seeds
from memaudit.arrays import Indices
from memaudit.attacks.context_manipulations import Manipulation, effective, parsed
from memaudit.attacks.multiple_choice_probe import SIGNALS, Reference, candidates_of, probe, read
from memaudit.data.matched_splits import CONTEXT, NONMEMBER, PLACEBO, QUERY, SPARE
from memaudit.data.member_splits import MEMBERS
from memaudit.data.record_encoding import encode
from memaudit.data.text_hashing import hashed
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_json, read_table
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.context_scaling import target_scale
from memaudit.models.fine_tuning import Task
from memaudit.models.model_folder import load
from memaudit.models.model_limits import check
from memaudit.models.model_protocol import Network, TabularModel
from memaudit.models.predictive_distributions import Binned
from memaudit.workflow.job import several

CANARIES = "canaries"
SCALING = "fixed: by the context rows and the spare members of the split"


@dataclass(frozen=True)
class Split:
    """One split under one condition of its labels. By record: facts (id, side, role, order), x (N, d) float32, y (N,)
    class codes or float32, and true (N,), the labels before any was changed. choices: (k,) labels of the whole table,
    in order; classes: their number, 0 for numbers."""

    dataset: str
    number: int
    facts: pd.DataFrame
    x: Tensor
    y: Tensor
    true: Tensor
    choices: NDArray[Any]
    classes: int

    def rows(self, role: str, count: int | None = None) -> Indices:
        """Records of a role in their order, all or the first ones."""
        found = np.flatnonzero(self.facts.role == role)
        return found[np.argsort(self.facts.order.to_numpy()[found])][:count]

    def targets(self, queries: int, context: int) -> Indices:
        """Who is asked: the first query members, as many non-members, and the first context rows."""
        return np.concatenate([self.rows(QUERY, queries), self.rows(NONMEMBER, queries), self.rows(CONTEXT, context)])

    def pairs(self, rows: Indices) -> NDArray[np.int64]:
        """Number of the matched pair of each record, of a query member and a non-member, see draw_split; -1 of none."""
        facts = self.facts.iloc[rows]
        return np.where(facts.role.isin([QUERY, NONMEMBER]), facts.order, -1)

    def task(self, queries: int, context: int, pairs: str, placebo: bool = False) -> Task:
        """What pairs are drawn from: the first query members and context rows. Fixed pairs ask all of these queries in
        all of that context; random pairs ask and show any of both. placebo: other records stand for the queries."""
        asked = self.rows(PLACEBO if placebo else QUERY, queries)
        records = np.concatenate([asked, self.rows(CONTEXT, context)])
        return Task(self.x, self.y, records, asked if pairs == "fixed" else None)

    @property
    def reference(self) -> Reference:
        """The records that cells and numbers are scaled by."""
        chosen = np.flatnonzero((self.facts.side == MEMBERS) & self.facts.role.isin([CONTEXT, SPARE]))
        return Reference(self.x[chosen], self.true[chosen])


@dataclass(frozen=True)
class Table:
    """A data set and its splits. left_out: columns of free text that the model is not shown; canaries: a grid of chosen
    labels (split, target), for that condition alone."""

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
        """What a grid says of its table: records, columns, how many labels there are, and the share of the largest."""
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
        """The split of that number under a condition of its labels; canaries that no grid says are not chosen yet."""
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


@dataclass(frozen=True)
class Prober:
    """How targets are asked. candidates: most numbers to choose from; replicates: copies of a query; memory: MiB."""

    suite: tuple[Manipulation, ...]
    candidates: int
    replicates: int
    seed: int
    memory: int

    def offered(self, about: Table | Split) -> int:
        """Number of labels to choose from: all classes, or as many numbers as there are and the cap allows."""
        return len(about.choices) if about.classes else min(len(about.choices), self.candidates)

    def effective(self, split: Split) -> NDArray[np.bool_]:
        """Which manipulations (manipulation,) do something of their own to targets of the split: those are asked."""
        return effective(self.suite, self.offered(split), split.x.shape[1])

    def stream(self, split: Split, name: str, record: int) -> np.random.Generator:
        """The random stream of one record, whoever asks about it."""
        return seeds.generator(self.seed, "iclmem", split.dataset, name, split.number, split.facts.id[record])

    def choices(self, split: Split, rows: Indices, labels: Tensor) -> NDArray[Any]:
        """Labels to choose from, (target, k): all classes, or numbers of the table with the label among them."""
        most = self.offered(split)
        return np.stack(
            [
                candidates_of(split.choices, most, label, self.stream(split, "candidates", record))
                for record, label in zip(rows, labels.numpy(), strict=True)
            ]
        )

    def probe(self, model: TabularModel, split: Split, rows: Indices) -> NDArray[np.float32]:
        """Signals (target, manipulation, signal) of zero-information contexts, see multiple_choice.probe; NaN of the
        manipulations that repeat another."""
        labels, asked = split.y[rows], self.effective(split)
        signals = np.full((len(rows), len(self.suite), len(SIGNALS)), np.nan, np.float32)
        signals[:, asked] = probe(
            model,
            split.x[rows],
            labels.numpy(),
            self.choices(split, rows, labels),
            [manipulation for manipulation, kept in zip(self.suite, asked, strict=True) if kept],
            reference=split.reference,
            rngs=[self.stream(split, "probe", record) for record in rows],
            replicates=self.replicates,
            memory=self.memory,
        )
        return signals

    def vanilla(
        self, model: TabularModel, split: Split, rows: Indices, context: int, labels: Tensor
    ) -> NDArray[np.float32]:
        """Signals (target, signal) with the context of the fine-tuning, which shows targets in it; labels: (N,) of its
        rows and of the targets. The split's true ones: what is a model still worth? Its y: does it know the labels that
        it was taught, where it is asked as it was taught?"""
        shown = split.rows(CONTEXT, context)
        (said,) = answer(model, [Question(split.x[shown], labels[shown], split.x[rows])], self.memory)
        if isinstance(said, Binned):
            return read(said, labels[rows].numpy(), target_scale(split.reference.y[None])[1].item())
        return read(as_wide(said, split.classes), labels[rows].numpy())

    def canaries(self, model: TabularModel, split: Split, rows: Indices) -> Tensor:
        """The label of each target that the model finds least probable in the split's whole context, of the classes
        there; or of the numbers to choose from the one farthest from its prediction. A context row is left out of its
        own context."""
        shown = split.rows(CONTEXT)
        contexts = [shown[shown != row] for row in rows]
        questions = [
            Question(split.x[context], split.true[context], split.x[[row]])
            for row, context in zip(rows, contexts, strict=True)
        ]
        answers = answer(model, questions, self.memory)
        if isinstance(answers[0], Binned):
            choices = torch.from_numpy(self.choices(split, rows, split.true[rows]))
            means = torch.cat([said.mean() for said in answers])
            farthest = (choices - means[:, None]).abs().argmax(1)
            return choices[torch.arange(len(rows)), farthest]
        logits = torch.cat([as_wide(said, split.classes) for said in answers])
        return torch.where(logits.isfinite(), logits, torch.inf).argmin(1)


def packed(**arrays: Any) -> NDArray[Any]:
    """Arrays of several types and shapes as one, which a file of numpy holds."""
    found = {name: np.asarray(array) for name, array in arrays.items()}
    record = np.zeros((), [(name, array.dtype, array.shape) for name, array in found.items()])
    for name, array in found.items():
        record[name] = array
    return record


def axes(suite: Sequence[Manipulation]) -> dict[str, Any]:
    """Coordinates of the manipulations and signals of a grid."""
    named = {"manipulation": [manipulation.name for manipulation in suite], "signal": list(SIGNALS)}
    return named | {"category": ("manipulation", [manipulation.category for manipulation in suite])}


def open_study(job: Any, datasets: Sequence[str]) -> tuple[list[Table], Network, Prober]:
    """What a job asks about and whom: its tables, in the order of the names, its model, and how targets are asked.

    Inputs: model, and of each table records, schema, splits and, where labels are canaries, their grid. Params: seed,
    manipulations, candidates, replicates, free_text. Raises AuditError for a table that the model cannot take.
    """
    params, model = job.params, load(job.input.model, job.threads)
    suite = parsed(params.manipulations)
    memory = job.resources.get("forward_mb", MEMORY)
    prober = Prober(suite, params.candidates, params.replicates, params.seed, memory)
    files = {name: several(job.input.get(name) or []) for name in ("records", "schema", "splits", CANARIES)}
    tables = []
    for dataset, *paths in zip_longest(datasets, *files.values()):
        table = _open(dataset, *paths, free_text=params.free_text)
        added = max(manipulation.noise for manipulation in suite)
        columns, context = len(table.schema["columns"]) + added, int((table.splits.role == CONTEXT).sum())
        largest = context // (table.splits.split.max() + 1)
        check(model.limits, f"iclmem, data set {dataset}", largest, columns, table.classes or None)
        tables.append(table)
    return tables, model, prober


def _open(dataset: str, records: str, schema: str, splits: str, canaries: str | None, free_text: str) -> Table:
    facts, rows = read_json(schema), read_table(records).set_index("id")
    if free_text == "hash":
        rows, facts = hashed(rows, facts)
    shown = [column for column in facts["columns"] if not (free_text == "leave_out" and column["type"] == "text")]
    if not shown:
        raise AuditError(
            f"iclmem, data set {dataset}: all columns are free text, which the model cannot read; leave it out"
        )
    left_out = len(facts["columns"]) - len(shown)
    grid = read_grid(canaries) if canaries else None
    return Table(dataset, rows, {**facts, "columns": shown}, read_table(splits), left_out, grid)
