"""Probing a model on the targets of a split, by multiple choice and with its usual context (ICLMEM, section 4.2).

The queries about a target follow from the master seed, its data set, its split and its id only: they are the same for
every fine-tuning condition, epoch and shard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memaudit.attacks.context_manipulations import PROBE_SIGNALS, Manipulation, effective, parsed
from memaudit.attacks.label_ranks import label_ranks
from memaudit.attacks.multiple_choice_probe import candidates_of, probe, read
from memaudit.common import seeds
from memaudit.common.arrays import Array32, Indices, Mask
from memaudit.common.job_inputs import several
from memaudit.data.matched_splits import CONTEXT
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.context_scaling import target_scale
from memaudit.models.model_folder import load
from memaudit.models.model_protocol import Network, TabularModel
from memaudit.models.predictive_distributions import Binned
from memaudit.studies.iclmem.table_splits import CANARIES, Split, Table, open_table


@dataclass(frozen=True)
class Prober:
    """Settings of the probe. candidates: most numbers to choose from; replicates: repeated queries; memory: MiB."""

    suite: tuple[Manipulation, ...]
    candidates: int
    replicates: int
    seed: int
    memory: int

    def offered(self, about: Table | Split) -> int:
        """Number of candidate labels: all classes, or as many numbers as there are and the limit allows."""
        return len(about.choices) if about.classes else min(len(about.choices), self.candidates)

    def effective(self, split: Split) -> Mask:
        """Manipulations (manipulation,) that do not repeat another on targets of the split: only these are queried."""
        return effective(self.suite, self.offered(split), split.x.shape[1])

    def stream(self, split: Split, name: str, record: int) -> np.random.Generator:
        """The random stream of one record, the same for every model."""
        return seeds.generator(self.seed, "iclmem", split.dataset, name, split.number, split.facts.id[record])

    def choices(self, split: Split, rows: Indices, labels: Tensor) -> NDArray[Any]:
        """Candidate labels, (target, k): all classes, or numbers of the table with the label among them."""
        most = self.offered(split)
        return np.stack(
            [
                candidates_of(split.choices, most, label, self.stream(split, "candidates", record))
                for record, label in zip(rows, labels.numpy(), strict=True)
            ]
        )

    def probe(self, model: TabularModel, split: Split, rows: Indices) -> Array32:
        """Signals (target, manipulation, signal) of zero-information contexts, see multiple_choice_probe.probe.

        NaN for the manipulations that repeat another.
        """
        labels, queried = split.y[rows], self.effective(split)
        signals = np.full((len(rows), len(self.suite), len(PROBE_SIGNALS)), np.nan, np.float32)
        signals[:, queried] = probe(
            model,
            split.x[rows],
            labels.numpy(),
            self.choices(split, rows, labels),
            [manipulation for manipulation, kept in zip(self.suite, queried, strict=True) if kept],
            reference=split.reference,
            rngs=[self.stream(split, "probe", record) for record in rows],
            replicates=self.replicates,
            memory=self.memory,
        )
        return signals

    def planted(
        self, model: Network, split: Split, rows: Indices, others: Indices
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Contexts without information of rows and others, as the probe builds them, to train on; see Task.planted.

        Of k candidates each stands twice, and in k further contexts one of them k + 1 times and the others once: so the
        label has to come from the weights, whatever the context suggests, as under the manipulations that skew labels.
        Others are queried with each candidate as label, so that of them the weights store none: only rows are certain.
        """
        chosen = np.concatenate([rows, others])
        cells = model.scale(split.x[chosen], split.reference.x).cpu()
        offered = torch.from_numpy(self.choices(split, chosen, split.y[chosen])).to(split.y.dtype)
        k, many = offered.shape[1], len(rows)
        each = torch.arange(k)
        orders = torch.stack([each.repeat(2), *(torch.cat([each, each.new_full((k,), one)]) for one in each)])
        labels = torch.cat([offered[:many, orders].flatten(0, 1), offered[many:].repeat(1, 2).repeat_interleave(k, 0)])
        true = torch.cat([split.y[rows].repeat_interleave(len(orders)), offered[many:].flatten()])[:, None]
        repeats = torch.tensor([len(orders)] * many + [k] * len(others))
        queries = cells.repeat_interleave(repeats, 0)[:, None]
        return queries.repeat(1, 2 * k, 1), labels, queries, true

    def vanilla(
        self, model: TabularModel, split: Split, rows: Indices, context: int, labels: Tensor
    ) -> tuple[Array32, Array32]:
        """Signals (target, signal) with the context of the fine-tuning, which may contain targets, and label ranks.

        The second (target,) is the rank of each label among all of the table, see label_ranks.label_ranks.

        labels: (N,), of the context rows and of the targets. The split's true labels measure the model's performance;
        its y measures whether it memorized the labels of the fine-tuning when queried as it was fine-tuned.
        """
        in_context = split.rows(CONTEXT, context)
        (predicted,) = answer(model, [Question(split.x[in_context], labels[in_context], split.x[rows])], self.memory)
        own, deviation, choices = labels[rows].numpy(), 1.0, np.arange(split.classes)
        if isinstance(predicted, Binned):
            deviation, choices = target_scale(split.reference.y[None])[1].item(), split.choices
        else:
            predicted = as_wide(predicted, split.classes)
        return read(predicted, own, deviation), label_ranks(predicted, own, choices).astype(np.float32)

    def canaries(self, model: TabularModel, split: Split, rows: Indices) -> Tensor:
        """The label of each target that the model finds least probable, given the split's whole context.

        Of the classes in that context; of numbers, the candidate farthest from its prediction. A context row is left
        out of its own context.
        """
        in_context = split.rows(CONTEXT)
        contexts = [in_context[in_context != row] for row in rows]
        questions = [
            Question(split.x[context], split.true[context], split.x[[row]])
            for row, context in zip(rows, contexts, strict=True)
        ]
        answers = answer(model, questions, self.memory)
        if isinstance(answers[0], Binned):
            choices = torch.from_numpy(self.choices(split, rows, split.true[rows]))
            means = torch.cat([predicted.mean() for predicted in answers])
            farthest = (choices - means[:, None]).abs().argmax(1)
            return choices[torch.arange(len(rows)), farthest]
        logits = torch.cat([as_wide(predicted, split.classes) for predicted in answers])
        return torch.where(logits.isfinite(), logits, torch.inf).argmin(1)


def packed(**arrays: Any) -> NDArray[Any]:
    """Arrays of several types and shapes as one record, which a .npy file can hold."""
    parts = {name: np.asarray(array) for name, array in arrays.items()}
    record = np.zeros((), [(name, array.dtype, array.shape) for name, array in parts.items()])
    for name, array in parts.items():
        record[name] = array
    return record


def axes(suite: Sequence[Manipulation]) -> dict[str, Any]:
    """Coordinates of the manipulations and signals in result files."""
    named = {"manipulation": [manipulation.name for manipulation in suite], "signal": list(PROBE_SIGNALS)}
    return named | {"category": ("manipulation", [manipulation.category for manipulation in suite])}


def open_study(job: Any, datasets: Sequence[str]) -> tuple[list[Table], Network, Prober]:
    """The tables of a job, in the order of the names, its model, and its prober.

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
        table = open_table(dataset, *paths, free_text=params.free_text)
        added = max(manipulation.noise for manipulation in suite)
        columns, context = len(table.schema["columns"]) + added, int((table.splits.role == CONTEXT).sum())
        largest = context // (table.splits.split.max() + 1)
        model.limits.check(f"iclmem, data set {dataset}", largest, columns, table.classes or None)
        tables.append(table)
    return tables, model, prober
