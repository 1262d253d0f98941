"""One model fine-tuned on a split of each of its tables, and probed at named epochs (ICLMEM, section 4.1, appendix D).

A run is what models/finetune makes of it, so a killed one goes on with the same bits; the answers of an epoch are kept
as they are given. Who is a member is read off the pairs that moved the weights, never off the settings. A model that
diverges is an outcome, not a fault: from that epoch on its answers are NaN.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit import seeds
from memaudit.arrays import Indices
from memaudit.attacks.multiple_choice_probe import SIGNALS
from memaudit.data.matched_splits import CONTEXT, QUERY
from memaudit.errors import AuditError
from memaudit.models import dp_sgd
from memaudit.models.fine_tuning import Pair, Run, Settings
from memaudit.models.lora import Adapter
from memaudit.models.model_protocol import Network
from memaudit.studies.iclmem.probe_inputs import Prober, Split, packed

Part = Callable[[str, Callable[[], NDArray[Any]]], NDArray[Any]]
STATE = "state.pt"  # of an unfinished run, in its folder
USUAL = ("vanilla", "taught")  # signals with the context of the fine-tuning
NEVER = -1  # the epoch at which a model diverged that did not


@dataclass(frozen=True)
class Study:
    """A model of an arm and what it is asked. task: a table's name or `joint`; arm: settings (config.iclmem_section)
    splits: of each table, all of one number; rows: their targets."""

    task: str
    arm: Mapping[str, Any]
    splits: Sequence[Split]
    rows: Sequence[Indices]
    prober: Prober

    @property
    def seed(self) -> int:
        """Of pairs and adapters: the same for every arm, so that arms differ by their settings alone."""
        return seeds.integer(self.prober.seed, "iclmem", self.task, "finetune", self.splits[0].number)

    @property
    def adapter(self) -> Adapter | None:
        """LoRA's settings, if it is not all weights that train."""
        return Adapter(**self.arm["adapter"]) if self.arm["adapter"] else None

    def facts(self, name: str) -> NDArray[Any]:
        """By target: id, role, label (a number, also of a class) or dataset."""
        asked = list(zip(self.splits, self.rows, strict=True))
        if name == "dataset":
            return np.concatenate([np.full(len(rows), split.dataset) for split, rows in asked])
        if name == "label":
            return np.concatenate([split.y[rows].double().numpy() for split, rows in asked])
        return np.concatenate([split.facts[name].to_numpy(str)[rows] for split, rows in asked])

    def probe(self, model: Network) -> NDArray[np.float32]:
        """Signals (target, manipulation, signal), the tables' targets one after another."""
        asked = zip(self.splits, self.rows, strict=True)
        return np.concatenate([self.prober.probe(model, split, rows) for split, rows in asked])

    def effective(self) -> NDArray[np.bool_]:
        """Which manipulations each target is asked with: (target, manipulation)."""
        asked = zip(self.splits, self.rows, strict=True)
        return np.concatenate([np.tile(self.prober.effective(split), (len(rows), 1)) for split, rows in asked])

    def vanilla(self, model: Network) -> dict[str, NDArray[np.float32]]:
        """Signals (target, signal) with the context of the fine-tuning: `vanilla` of the true labels, `taught` of those
        that the arm was fine-tuned on."""

        def signals(labels: str) -> NDArray[np.float32]:
            asked, context = zip(self.splits, self.rows, strict=True), self.arm["context"]
            return np.concatenate(
                [self.prober.vanilla(model, split, rows, context, getattr(split, labels)) for split, rows in asked]
            )

        true = signals("true")
        relabelled = any(not split.true.equal(split.y) for split in self.splits)
        return {"vanilla": true, "taught": signals("y") if relabelled else true}


def tune(model: Network, study: Study, folder: Path, part: Part) -> NDArray[Any]:
    """Fine-tune a copy of `model` and ask it at the arm's epochs: a record of arrays.

    signals (epoch, target, manipulation, signal); vanilla, taught (stage, target, signal), stage 0 the base; member and
    shown (epoch, target), whether it was a query, or in a context, by then; diverged_at, -1 for never; trainable;
    seconds_finetune and seconds_probe (epoch,), CPU seconds of fine-tuning up to it, and of its probe. folder: of the
    run's state and checkpoints; part: keeps the answers of an epoch.
    """
    arm, splits = study.arm, study.splits
    epochs = arm["epochs"]
    settings = Settings(
        seed=study.seed,
        epochs=epochs[-1],
        learning_rate=arm["learning_rate"],
        context=arm["context"],
        queries=arm["queries"],
        pairs=arm["pairs"],
        adapter=study.adapter,
        checkpoints=(0, *epochs),
    )
    asked = [arm[name] for name in ("queries", "context", "pairs", "placebo")]
    tasks = {split.dataset: split.task(*asked) for split in splits}
    run = Run(model, tasks, settings, folder)
    since, began = run.done["epoch"], time.process_time()

    def watch(epoch: int, tuned: Network) -> None:
        nonlocal since, began
        seconds = (time.process_time() - began) / max(1, epoch - since)
        part(f"epoch {epoch}", lambda: _stage(study, tuned, seconds) if epoch else packed(**study.vanilla(tuned)))
        since, began = epoch, time.process_time()

    def gone() -> NDArray[Any]:
        raise AuditError(f"{folder}: what the model said at an earlier epoch is gone; delete the folder to start anew")

    run.train(watch)
    diverged = run.done["diverged_at"]
    there = [epoch for epoch in (0, *epochs) if diverged is None or epoch < diverged]
    kept = {epoch: part(f"epoch {epoch}", gone) for epoch in there}
    return _record(study, kept, run.log(), run.trainable, diverged)


def tune_privately(model: Network, study: Study) -> NDArray[Any]:
    """As `tune`, by DP-SGD and without a state: made again, the noise differs. All queries count as members, though a
    step draws some of them at random and does not say which."""
    (split,), arm = study.splits, study.arm
    pair = Pair(split.rows(CONTEXT, arm["context"]), split.rows(QUERY, arm["queries"]))
    began = time.process_time()
    task = split.task(arm["queries"], arm["context"], "fixed")
    tuned, _ = dp_sgd.train(model, task, pair, private_settings(study))
    seconds = (time.process_time() - began) / arm["epochs"][-1]
    kept = {0: packed(**study.vanilla(model)), arm["epochs"][-1]: _stage(study, tuned, seconds)}
    log = [{"task": split.dataset, "epochs": [1, arm["epochs"][-1]], "context": pair.context, "query": pair.query}]
    weights = [weight for weight in model.module.parameters() if weight.requires_grad]
    return _record(study, kept, log, sum(weight.numel() for weight in weights))


def private_settings(study: Study) -> dp_sgd.Settings:
    """The noise that keeps to the arm's epsilon, one step an epoch."""
    wanted, steps = dict(study.arm["private"]), study.arm["epochs"][-1]
    sigma = dp_sgd.sigma_for(wanted.pop("epsilon"), wanted["sampling_rate"], steps, wanted["delta"])
    rate = study.arm["learning_rate"]
    return dp_sgd.Settings(
        seed=study.seed, steps=steps, learning_rate=rate, sigma=sigma, adapter=study.adapter, **wanted
    )


def _stage(study: Study, model: Network, seconds: float) -> NDArray[Any]:
    """What is kept of a probed epoch; seconds: of an epoch of fine-tuning before it."""
    began = time.process_time()
    signals = study.probe(model)
    asking = time.process_time() - began
    return packed(signals=signals, **study.vanilla(model), seconds=[seconds, asking])


def _record(
    study: Study,
    kept: Mapping[int, NDArray[Any]],
    log: Sequence[Mapping[str, Any]],
    trainable: int,
    diverged: int | None = None,
) -> NDArray[Any]:
    """What `tune` returns. kept: by epoch, up to where the run diverged."""
    epochs = study.arm["epochs"]
    targets = sum(map(len, study.rows))
    signals = np.full((len(epochs), targets, len(study.prober.suite), len(SIGNALS)), np.nan, np.float32)
    usual = {name: np.full((1 + len(epochs), targets, len(SIGNALS)), np.nan, np.float32) for name in USUAL}
    for name, values in usual.items():
        values[0] = kept[0][name]
    seconds, asked = np.full((2, len(epochs)), np.nan), study.effective()
    for at, epoch in enumerate(sorted(kept.keys() - {0})):
        # Weights may be finite, and what they say not.
        said = [kept[epoch]["signals"][asked], *(kept[epoch][name] for name in USUAL)]
        if not all(np.isfinite(values).all() for values in said):
            diverged = epoch
            break
        signals[at], seconds[:, at] = (kept[epoch][name] for name in ("signals", "seconds"))
        for name, values in usual.items():
            values[at + 1] = kept[epoch][name]
    return packed(
        signals=signals,
        **usual,
        member=np.stack([_seen(study, log, epoch, "query") for epoch in epochs]),
        shown=np.stack([_seen(study, log, epoch, "context") for epoch in epochs]),
        diverged_at=NEVER if diverged is None else diverged,
        trainable=trainable,
        seconds_finetune=np.cumsum(seconds[0] * np.diff(epochs, prepend=0)),
        seconds_probe=seconds[1],
    )


def _seen(study: Study, log: Sequence[Mapping[str, Any]], epoch: int, where: str) -> NDArray[np.bool_]:
    """Which targets stood in a pair up to an epoch: as a query or in the context."""
    seen = {split.dataset: [] for split in study.splits}
    for entry in log:
        if entry["epochs"][0] <= epoch:
            seen[entry["task"]].extend(np.ravel(entry[where]))
    parts = zip(study.splits, study.rows, strict=True)
    return np.concatenate([np.isin(rows, seen[split.dataset]) for split, rows in parts])
