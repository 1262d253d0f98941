"""Fine-tuning of a tabular in-context network on context-query pairs (ICLMEM, section 4.1 and appendix D).

An epoch is one gradient step per task; a run of one task is a joint run of one. Pairs are drawn once and kept (`fixed`)
or drawn again every epoch (`random`), and every pair that was used in a step is logged. A run is a function of its
settings, its tables and its base model: nothing depends on wall time, random streams are named, and a killed run
continues from its last state and ends with the same bits. Bits are the same on one thread, which `load` sets.
"""

import hashlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.models import checkpoint_deltas, training_state
from memaudit.models.adamw import AdamW
from memaudit.models.context_query_pairs import Pair, Task, batch, draw_pair
from memaudit.models.lora import Adapter, adapt, adapter_of, merge
from memaudit.models.model_protocol import Network

Watch = Callable[[int, Network], None]


@dataclass(frozen=True)
class Settings:
    """Settings of a run. In ICLMEM: learning rates 1e-1 to 1e-4, up to 512 context rows, Q 50 or 512."""

    seed: int
    epochs: int
    learning_rate: float
    context: int  # rows of a context
    queries: int  # Q, query rows of a pair
    pairs: Literal["fixed", "random"] = "fixed"
    pairs_per_step: int = 1  # B, pairs of one task in a gradient step
    context_labels: Literal["source", "uniform"] = "source"  # of a context's classes; numbers are as they are drawn
    label_smoothing: float = 0.0  # share of a query's label that is spread over the classes of the context
    order: Literal["fixed", "shuffled"] = "fixed"  # of the tasks within an epoch
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    clip_norm: float = float("inf")
    warmup: float = 0.0  # share of all steps over which the learning rate rises
    adapter: Adapter | None = None  # None: all weights are trained
    checkpoints: tuple[int, ...] = ()  # epochs to keep and to watch; 0 is the base model
    checkpoint_dtype: checkpoint_deltas.Dtype = "bfloat16"
    save_every: int = 10  # epochs between two states


class Run:
    """A fine-tuning run in a folder: its state, and a checkpoint for every named epoch."""

    def __init__(self, model: Network, tasks: Mapping[str, Task], settings: Settings, folder: Path) -> None:
        """Start from `model`, which is not changed, or continue from the folder's state.

        Raises AuditError if that state belongs to other settings, tables or weights, and for a module with dropout.
        """
        self.tasks, self.settings, self.path = tasks, settings, folder / "state.pt"
        self.base = model.module.state_dict()
        self.model = deepcopy(model)
        if (beyond := max(settings.checkpoints, default=0)) > settings.epochs:
            raise AuditError(f"fine-tuning: a checkpoint of epoch {beyond} in a run of {settings.epochs}; name fewer")
        if any(isinstance(layer, nn.Dropout) and layer.p > 0 for layer in self.model.module.modules()):
            raise AuditError("fine-tuning: the module has dropout, so its gradients are drawn; load it with dropout 0")
        if settings.adapter:
            adapt(self.model.module, settings.adapter, seeds.integer(settings.seed, "finetune", "adapter"))
        self.weights = [p for p in self.model.module.parameters() if p.requires_grad]
        self.trainable = sum(p.numel() for p in self.weights)
        self.optimizer = AdamW(self.weights, settings.learning_rate, settings.betas, weight_decay=settings.weight_decay)
        self.done: dict[str, Any] = {"epoch": 0, "step": 0, "diverged_at": None, "history": [], "pairs": []}
        self.origin = {
            "settings": asdict(settings),
            "tables": _hash(tasks),
            "base model": checkpoint_deltas.fingerprint(self.base),
        }
        if done := training_state.resume(self.path, self.origin, self.model.module.state_dict(), self.optimizer):
            self.done = done

    def save(self) -> None:
        """Replace the state file."""
        training_state.save(self.path, self.origin, self.model.module.state_dict(), self.optimizer, self.done)

    def pairs(self, task: str, epoch: int) -> list[Pair]:
        """Return the B pairs of a task in an epoch, the same in all epochs if pairs are fixed."""
        settings, table = self.settings, self.tasks[task]
        drawn = epoch if settings.pairs == "random" else 0
        classes = self.model.task == "classification"
        labels = table.y[table.records].cpu().numpy() if classes else None
        return [
            draw_pair(
                table.records,
                settings.context,
                settings.queries,
                seeds.generator(settings.seed, "finetune", "pair", task, drawn, number),
                labels,
                uniform=classes and settings.context_labels == "uniform",
                queried=table.queried,
            )
            for number in range(settings.pairs_per_step)
        ]

    def train(self, watch: Watch | None = None, until: int | None = None) -> None:
        """Train to epoch `until` (default: the end), or until a loss, gradient or kept weight is not finite.

        A diverged run ends: `done["diverged_at"]` is the epoch, and later checkpoints are missing. watch(epoch, model)
        is called at each checkpoint, before a later state is saved: once, or once more after a kill. It must not change
        the model, whose adapters are merged.
        """
        settings, done = self.settings, self.done
        last = settings.epochs if until is None else min(until, settings.epochs)
        if done["epoch"] == 0 and done["diverged_at"] is None:
            for other in self.path.parent.glob("epoch-*.safetensors"):  # of a run whose state was moved away
                other.unlink()
            self._keep(watch)
        while done["epoch"] < last and done["diverged_at"] is None:
            self.advance()
            self._keep(watch)
            if done["epoch"] % settings.save_every == 0 or done["epoch"] == settings.epochs or done["diverged_at"]:
                self.save()

    def advance(self) -> None:
        """Train one epoch, one step per task. It ends before the first step that is not finite."""
        settings, done = self.settings, self.done
        epoch, names, losses = done["epoch"] + 1, list(self.tasks), {}
        if settings.order == "shuffled":
            names = list(seeds.generator(settings.seed, "finetune", "order", epoch).permutation(names))
        for name in map(str, names):
            pairs = self.pairs(name, epoch)
            task = self.tasks[name]
            losses[name] = self.step(*batch(task, pairs))
            if losses[name] is not None and task.planted:
                losses[name] = self.step(*task.planted, scaled=True)
            if losses[name] is None:
                done["diverged_at"] = epoch
                return
            self._log(name, epoch, pairs)
        done["epoch"] = epoch
        done["history"].append({"epoch": epoch, "loss": losses})

    def step(
        self, context_x: Tensor, context_y: Tensor, query_x: Tensor, query_y: Tensor, scaled: bool = False
    ) -> float | None:
        """Take one optimiser step; return its loss, or None (and no step) if the loss or its gradient is not finite.

        scaled: whether the cells are scaled already.
        """
        model = self.model.without_scaling() if scaled else self.model
        context_x, context_y, query_x, query_y = (
            part.to(model.device) for part in (context_x, context_y, query_x, query_y)
        )
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        self.optimizer.zero_grad()
        outputs = model.forward(context_x, context_y, query_x)
        loss = smoothed_loss(model, outputs, context_y, query_y, self.settings.label_smoothing).mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.weights, self.settings.clip_norm)
        if not (loss.isfinite() and norm.isfinite()):
            return None
        self.optimizer.step()
        self.done["step"] += 1
        return loss.item()

    def _learning_rate(self) -> float:
        warm = self.settings.warmup * self.settings.epochs * len(self.tasks)
        return self.settings.learning_rate * min(1.0, (self.done["step"] + 1) / max(warm, 1.0))

    def _log(self, task: str, epoch: int, pairs: list[Pair]) -> None:
        """Log the pairs of a step; fixed pairs are logged once, with the first and the last epoch that used them."""
        if self.settings.pairs == "fixed" and epoch > 1:
            next(entry for entry in self.done["pairs"] if entry["task"] == task)["epochs"][1] = epoch
            return
        self.done["pairs"].append(
            {
                "task": task,
                "epochs": [epoch, epoch],
                "context": torch.tensor(np.stack([pair.context for pair in pairs])),
                "query": torch.tensor(np.stack([pair.query for pair in pairs])),
            }
        )

    def log(self) -> list[dict[str, Any]]:
        """Return all pairs of all steps: task, epochs (first, last), records `context` (B, n), `query` (B, Q)."""
        return [
            entry | {"context": entry["context"].tolist(), "query": entry["query"].tolist()}
            for entry in self.done["pairs"]
        ]

    def _keep(self, watch: Watch | None) -> None:
        """Write the checkpoint of a named epoch and call `watch`, unless the run has diverged."""
        epoch, settings = self.done["epoch"], self.settings
        if epoch not in settings.checkpoints or self.done["diverged_at"] is not None:
            return
        module = self.model.module
        if not all(weight.isfinite().all() for weight in self.weights):
            self.done["diverged_at"] = epoch
            return
        state = dict(self.base) | adapter_of(module) if settings.adapter else module.state_dict()
        checkpoint_deltas.write(self.checkpoint(epoch), self.base, state, epoch, settings.checkpoint_dtype)
        if watch:
            watch(epoch, merged(self.model) if settings.adapter else self.model)

    def checkpoint(self, epoch: int) -> Path:
        """Return the path of an epoch's checkpoint; there is no file if the run diverged before it."""
        return self.path.with_name(f"epoch-{epoch:04}.safetensors")


def smoothed_loss(model: Network, outputs: Tensor, context_y: Tensor, query_y: Tensor, smoothing: float) -> Tensor:
    """The model's loss per query (B, Q) for smoothed labels (Szegedy et al. 2016, section 7).

    The label counts 1 - smoothing, and every class that all contexts have an equal part of the rest. Raises AuditError
    for a regression model, whose labels are no classes.
    """
    loss = model.loss(outputs, context_y, query_y)
    if not smoothing:
        return loss
    if model.task != "classification":
        raise AuditError("fine-tuning: labels of a regression cannot be smoothed; set label_smoothing to 0")
    classes = [label for label in context_y[0].unique() if (context_y == label).any(1).all()]
    others = [model.loss(outputs, context_y, torch.full_like(query_y, int(label))) for label in classes]
    return (1 - smoothing) * loss + smoothing * torch.stack(others).mean(0)


def merged(model: Network) -> Network:
    """Return a copy of an adapted model with its adapters merged: the module is the package's own again."""
    model = deepcopy(model)
    merge(model.module)
    return model


def restore(model: Network, checkpoint: Path, adapter: Adapter | None = None) -> Network:
    """Return a copy of the base `model` with the weights of a checkpoint, adapters merged.

    Raises AuditError if the checkpoint is damaged or belongs to another base.
    """
    state = checkpoint_deltas.read(checkpoint, model.module.state_dict())
    model = deepcopy(model)
    if adapter is None:
        model.module.load_state_dict(state)
        return model
    adapt(model.module, adapter, seed=0)
    model.module.load_state_dict({name: state[name] for name in adapter_of(model.module)}, strict=False)
    merge(model.module)
    return model


def _hash(tasks: Mapping[str, Task]) -> str:
    """Hash of all tables and of the records that pairs draw from; their order counts."""

    def table(task: Task) -> str:
        records = {"records": task.records, "queried": task.queried, "copied": task.copied}
        records["copies"] = None if task.copied is None else np.array([task.copies])
        named = {name: torch.from_numpy(rows) for name, rows in records.items() if rows is not None}
        named |= {f"planted {place}": part.contiguous() for place, part in enumerate(task.planted or ())}
        return checkpoint_deltas.fingerprint({"x": task.x, "y": task.y} | named)

    return hashlib.sha256("\0".join([*tasks, *map(table, tasks.values())]).encode()).hexdigest()
