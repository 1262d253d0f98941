"""Fine-tuning of one model on a split of each of its tables, with probes at given epochs (ICLMEM, section 4.1, app. D).

A killed run resumes from its state (models.fine_tuning) with the same bits; the signals of an epoch are kept as soon as
they are computed. Membership is derived from the training pairs that changed the weights, never from the settings.
Divergence is an outcome and no error: from that epoch on the signals are NaN.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.context_manipulations import PROBE_SIGNALS
from memaudit.common import seeds
from memaudit.common.arrays import Array32, Indices, Mask
from memaudit.common.errors import AuditError
from memaudit.data.matched_splits import CONTEXT, QUERY
from memaudit.models import dp_sgd
from memaudit.models.context_query_pairs import Pair, Task
from memaudit.models.fine_tuning import Run, Settings
from memaudit.models.lora import Adapter
from memaudit.models.model_protocol import Network
from memaudit.studies.iclmem.model_probing import Prober, packed
from memaudit.studies.iclmem.table_splits import Split

Part = Callable[[str, Callable[[], NDArray[Any]]], NDArray[Any]]
LOSS = PROBE_SIGNALS.index("loss")
RANDOM_CONTEXTS = "random_contexts"  # pairs with the same queries in a context that is drawn anew in every epoch
STATE = "state.pt"  # of an unfinished run, in its folder
WITH_CONTEXT = ("vanilla", "relabelled", "label_rank")  # with the context of the fine-tuning
NEVER = -1  # the epoch of divergence of a model that did not diverge


@dataclass(frozen=True)
class FineTuningRun:
    """A model to fine-tune and its targets.

    task: a table's name or `joint`; condition: an entry of `arms` (config.iclmem_section); splits: of each table, all
    of one number; rows: their targets.
    """

    task: str
    condition: Mapping[str, Any]
    splits: Sequence[Split]
    rows: Sequence[Indices]
    prober: Prober

    @property
    def seed(self) -> int:
        """Seed of pairs and adapters: equal for all conditions, so that these differ by their settings alone."""
        return seeds.integer(self.prober.seed, "iclmem", self.task, "finetune", self.splits[0].number)

    @property
    def adapter(self) -> Adapter | None:
        """LoRA's settings, None where all weights train."""
        return Adapter(**self.condition["adapter"]) if self.condition["adapter"] else None

    def facts(self, name: str) -> NDArray[Any]:
        """One fact of every target, (target,): id, role, label (a number, also of a class) or dataset."""
        tables = list(zip(self.splits, self.rows, strict=True))
        if name == "dataset":
            return np.concatenate([np.full(len(rows), split.dataset) for split, rows in tables])
        if name == "label":
            return np.concatenate([split.y[rows].double().numpy() for split, rows in tables])
        return np.concatenate([split.facts[name].to_numpy(str)[rows] for split, rows in tables])

    def tasks(self, model: Network) -> dict[str, Task]:
        """Records that the training pairs of each table are drawn from; the targets among its queries may be copied.

        Where a positive control plants memory, also contexts without information of all queries.
        """
        condition = self.condition
        drawn_from = condition["pool"] if condition["pairs"] == RANDOM_CONTEXTS else condition["context"]
        settings = condition["queries"], drawn_from, condition["pairs"], condition["placebo"]
        copies, tables = condition["copies"], zip(self.splits, self.rows, strict=True)
        copied = [(split, (rows, copies) if copies else ()) for split, rows in tables]
        tasks = {split.dataset: split.task(*settings, *of_copies) for split, of_copies in copied}
        if not condition["planted"]:
            return tasks
        for split in self.splits:
            parts = split.rows(QUERY, condition["queries"]), split.rows(CONTEXT, condition["context"])
            planted = self.prober.planted(model, split, *parts)
            tasks[split.dataset] = replace(tasks[split.dataset], planted=planted)
        return tasks

    def probe(self, model: Network) -> Array32:
        """Signals (target, manipulation, signal), the tables' targets one after another."""
        tables = zip(self.splits, self.rows, strict=True)
        return np.concatenate([self.prober.probe(model, split, rows) for split, rows in tables])

    def effective(self) -> Mask:
        """Manipulations that each target is queried with: (target, manipulation)."""
        tables = zip(self.splits, self.rows, strict=True)
        return np.concatenate([np.tile(self.prober.effective(split), (len(rows), 1)) for split, rows in tables])

    def held_out(self, model: Network) -> float:
        """Mean loss of held-out records (Split.held_out) with the context and the labels of the fine-tuning.

        What early stopping goes by; NaN where no table has such records.
        """
        losses = [
            self.prober.vanilla(model, split, rows, self.condition["context"], split.y)[0][:, LOSS]
            for split in self.splits
            if len(rows := split.held_out)
        ]
        return float(np.concatenate(losses).mean(dtype=np.float64)) if losses else np.nan

    def vanilla(self, model: Network) -> dict[str, Array32]:
        """Signals (target, signal) with the context of the fine-tuning, and ranks of labels (target,).

        `vanilla`: with the true labels; `relabelled` and `label_rank`: with the labels of the fine-tuning.
        """

        def answers(labels: str) -> tuple[Array32, Array32]:
            tables, context = zip(self.splits, self.rows, strict=True), self.condition["context"]
            parts = [self.prober.vanilla(model, split, rows, context, getattr(split, labels)) for split, rows in tables]
            signals, ranks = zip(*parts, strict=True)
            return np.concatenate(signals), np.concatenate(ranks)

        true = answers("true")
        changed = any(not split.true.equal(split.y) for split in self.splits)
        relabelled, ranks = answers("y") if changed else true
        return {"vanilla": true[0], "relabelled": relabelled, "label_rank": ranks}


def tune(model: Network, study: FineTuningRun, folder: Path, part: Part) -> NDArray[Any]:
    """Fine-tune a copy of `model`, probe it at the condition's epochs, and return a record of arrays.

    signals (epoch, target, manipulation, signal); vanilla, relabelled (stage, target, signal), stage 0 the base;
    label_rank (stage, target); member and in_context (epoch, target), whether it was a query, or in a context, by then;
    diverged_at, -1 for never; held_out (epoch,), see FineTuningRun; trainable; seconds_finetune and seconds_probe
    (epoch,), CPU seconds of fine-tuning up to it, and of its probe. folder: of the run's state and checkpoints; part:
    computes and keeps the signals of an epoch.
    """
    condition = study.condition
    epochs = condition["epochs"]
    settings = Settings(
        seed=study.seed,
        epochs=epochs[-1],
        learning_rate=condition["learning_rate"],
        context=condition["context"],
        queries=condition["queries"],
        pairs="fixed" if condition["pairs"] == "fixed" else "random",
        context_labels="uniform" if condition["pairs"] == RANDOM_CONTEXTS else "source",
        label_smoothing=condition["label_smoothing"] or 0.0,
        adapter=study.adapter,
        checkpoints=(0, *epochs),
    )
    run = Run(model, study.tasks(model), settings, folder)
    since, began = run.done["epoch"], time.process_time()

    def watch(epoch: int, tuned: Network) -> None:
        nonlocal since, began
        seconds = (time.process_time() - began) / max(1, epoch - since)
        part(f"epoch {epoch}", lambda: _probed(study, tuned, seconds) if epoch else packed(**study.vanilla(tuned)))
        since, began = epoch, time.process_time()

    def missing() -> NDArray[Any]:
        raise AuditError(f"{folder}: the signals of an earlier epoch are missing; delete the folder to start again")

    run.train(watch)
    diverged = run.done["diverged_at"]
    finished = [epoch for epoch in (0, *epochs) if diverged is None or epoch < diverged]
    kept = {epoch: part(f"epoch {epoch}", missing) for epoch in finished}
    return _record(study, kept, run.log(), run.trainable, diverged)


def tune_privately(model: Network, study: FineTuningRun) -> NDArray[Any]:
    """Fine-tune and probe by DP-SGD, and return the record that `tune` returns.

    It saves no state, since a repeated run has other noise. All queries count as members, though a step draws some of
    them at random and does not record which.
    """
    (split,), condition = study.splits, study.condition
    pair = Pair(split.rows(CONTEXT, condition["context"]), split.rows(QUERY, condition["queries"]))
    began = time.process_time()
    task = split.task(condition["queries"], condition["context"], "fixed")
    tuned, _ = dp_sgd.train(model, task, pair, private_settings(study))
    last = condition["epochs"][-1]
    seconds = (time.process_time() - began) / last
    kept = {0: packed(**study.vanilla(model)), last: _probed(study, tuned, seconds)}
    log = [{"task": split.dataset, "epochs": [1, last], "context": pair.context, "query": pair.query}]
    weights = [weight for weight in model.module.parameters() if weight.requires_grad]
    return _record(study, kept, log, sum(weight.numel() for weight in weights))


def private_settings(study: FineTuningRun) -> dp_sgd.Settings:
    """DP-SGD settings with the noise for the condition's epsilon, one step per epoch."""
    privacy, steps = dict(study.condition["private"]), study.condition["epochs"][-1]
    sigma = dp_sgd.sigma_for(privacy.pop("epsilon"), privacy["sampling_rate"], steps, privacy["delta"])
    rate = study.condition["learning_rate"]
    return dp_sgd.Settings(
        seed=study.seed, steps=steps, learning_rate=rate, sigma=sigma, adapter=study.adapter, **privacy
    )


def _probed(study: FineTuningRun, model: Network, seconds: float) -> NDArray[Any]:
    """The record of a probed epoch; seconds: of an epoch of fine-tuning before it."""
    began = time.process_time()
    signals = study.probe(model)
    probing = time.process_time() - began
    held_out = study.held_out(model)
    return packed(signals=signals, **study.vanilla(model), held_out=held_out, seconds=[seconds, probing])


def _record(
    study: FineTuningRun,
    kept: Mapping[int, NDArray[Any]],
    log: Sequence[Mapping[str, Any]],
    trainable: int,
    diverged: int | None = None,
) -> NDArray[Any]:
    """The record that `tune` returns. kept: by epoch, up to where the run diverged."""
    epochs = study.condition["epochs"]
    targets = sum(map(len, study.rows))
    signals = np.full((len(epochs), targets, len(study.prober.suite), len(PROBE_SIGNALS)), np.nan, np.float32)
    with_context = {name: np.full((1 + len(epochs), *kept[0][name].shape), np.nan, np.float32) for name in WITH_CONTEXT}
    for name, values in with_context.items():
        values[0] = kept[0][name]
    held_out, seconds = np.full(len(epochs), np.nan), np.full((2, len(epochs)), np.nan)
    queried = study.effective()
    for at, epoch in enumerate(sorted(kept.keys() - {0})):
        # Finite weights may give signals that are not.
        computed = [kept[epoch]["signals"][queried], *(kept[epoch][name] for name in WITH_CONTEXT)]
        if not all(np.isfinite(values).all() for values in computed):
            diverged = epoch
            break
        signals[at], seconds[:, at] = (kept[epoch][name] for name in ("signals", "seconds"))
        held_out[at] = kept[epoch]["held_out"]
        for name, values in with_context.items():
            values[at + 1] = kept[epoch][name]
    return packed(
        signals=signals,
        **with_context,
        held_out=held_out,
        member=np.stack([_in_pairs(study, log, epoch, "query") for epoch in epochs]),
        in_context=np.stack([_in_pairs(study, log, epoch, "context") for epoch in epochs]),
        diverged_at=NEVER if diverged is None else diverged,
        trainable=trainable,
        seconds_finetune=np.cumsum(seconds[0] * np.diff(epochs, prepend=0)),
        seconds_probe=seconds[1],
    )


def _in_pairs(study: FineTuningRun, log: Sequence[Mapping[str, Any]], epoch: int, where: str) -> Mask:
    """Targets that stood in a training pair up to an epoch, as a query or in the context."""
    used = {split.dataset: [] for split in study.splits}
    for entry in log:
        if entry["epochs"][0] <= epoch:
            used[entry["task"]].extend(np.ravel(entry[where]))
    parts = zip(study.splits, study.rows, strict=True)
    return np.concatenate([np.isin(rows, used[split.dataset]) for split, rows in parts])
