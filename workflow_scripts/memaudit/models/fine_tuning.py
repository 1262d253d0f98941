"""Fine-tuning of a tabular in-context network on context-query pairs (ICLMEM, section 4.1 and appendix D).

An epoch is one gradient step per task; a run of one task is a joint run of one. Pairs are drawn once and kept (`fixed`)
or drawn anew every epoch (`random`), and every pair that has moved the weights is logged. A run is a function of its
settings, its tables and its base: nothing depends on wall time, every stream has a name, and a run that is killed
continues from its last state and ends with the same bits. Bits are the same on one thread, which `load` sets.
"""

import hashlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from memaudit import seeds
from memaudit.errors import AuditError
from memaudit.io import readable, replacing
from memaudit.models import checkpoint_deltas
from memaudit.models.lora import Adapter, adapt, adapter_of, merge
from memaudit.models.model_protocol import Network

Watch = Callable[[int, Network], None]


@dataclass(frozen=True)
class Settings:
    """What a run does. Its learning rates and sizes in the paper: 1e-1 to 1e-4, up to 512 context rows, Q 50 or 512."""

    seed: int
    epochs: int
    learning_rate: float
    context: int  # rows of a context
    queries: int  # Q, query rows of a pair
    pairs: Literal["fixed", "random"] = "fixed"
    pairs_per_step: int = 1  # B, pairs of one task in a gradient step
    context_labels: Literal["source", "uniform"] = "source"  # of a context's classes; numbers are as in the source
    order: Literal["fixed", "shuffled"] = "fixed"  # of the tasks within an epoch
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    clip_norm: float = float("inf")
    warmup: float = 0.0  # share of all steps over which the learning rate rises
    adapter: Adapter | None = None  # None: all weights are trained
    checkpoints: tuple[int, ...] = ()  # epochs to keep and to watch; 0 is the base
    checkpoint_dtype: checkpoint_deltas.Dtype = "bfloat16"
    save_every: int = 10  # epochs between two states


@dataclass(frozen=True)
class Task:
    """A table, x (N, d) float32 and y (N,) codes or numbers, and the records (ids, rows of x) that pairs draw from.

    asked: those of the records that queries are drawn from, and contexts from the others; None: both from all of them.
    """

    x: Tensor
    y: Tensor
    records: np.ndarray
    asked: np.ndarray | None = None


@dataclass(frozen=True)
class Pair:
    """Records of one task: context (n,) and query (Q,), disjoint."""

    context: np.ndarray
    query: np.ndarray


def draw_pair(
    records: np.ndarray,
    context: int,
    queries: int,
    rng: np.random.Generator,
    labels: np.ndarray | None = None,
    uniform: bool = False,
    asked: np.ndarray | None = None,
) -> Pair:
    """Draw queries, as they come, and a context from the other records, without replacement.

    labels: class of every record given. A query whose class is not in the context, which no weight could answer, gives
    way to the next record. uniform: the context has equally many rows of each class as far as they reach (ICLMEM,
    table 2). asked: only these records are queries, and none of them stands in a context. Raises AuditError if there
    are too few records.
    """
    order = rng.permutation(len(records))
    first = np.arange(len(order)) < queries if asked is None else np.isin(records[order], asked)
    rest = order[~first]
    if uniform:
        rest = rest[np.argsort(_turns(labels[rest]), kind="stable")]
    shown, spare = rest[:context], rest[context:] if asked is None else rest[:0]
    queried = np.concatenate([order[first], spare])
    if labels is not None:
        queried = queried[np.isin(labels[queried], labels[shown])]
    if len(shown) < context or len(queried) < queries:
        raise AuditError(
            f"fine-tuning: {len(records)} records are too few for {context} context rows and {queries} queries of "
            "classes that the context has; give more records, or ask for fewer rows"
        )
    return Pair(context=records[rng.permutation(shown)], query=records[queried[:queries]])


def _turns(classes: np.ndarray) -> np.ndarray:
    """How many rows of the same class stand before each row."""
    turns = np.zeros(len(classes), int)
    for label in np.unique(classes):
        turns[classes == label] = np.arange((classes == label).sum())
    return turns


class Run:
    """A fine-tuning run in a folder: its state, and a checkpoint for every named epoch."""

    def __init__(self, model: Network, tasks: Mapping[str, Task], settings: Settings, folder: Path) -> None:
        """Start from `model`, which stays as it is, or continue from the folder's state.

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
        self.optimizer = torch.optim.AdamW(
            self.weights, settings.learning_rate, settings.betas, weight_decay=settings.weight_decay
        )
        self.done: dict[str, Any] = {"epoch": 0, "step": 0, "diverged_at": None, "history": [], "pairs": []}
        self.origin = {
            "settings": asdict(settings),
            "tables": _hash(tasks),
            "base model": checkpoint_deltas.fingerprint(self.base),
        }
        if self.path.exists():
            self._resume()

    def _resume(self) -> None:
        try:
            with readable(self.path):
                state = torch.load(self.path, map_location=self.model.device, weights_only=True)
        except UnpicklingError as error:
            raise AuditError(f"{self.path}: no state of a run; move it away to start anew") from error
        for part, value in self.origin.items():
            if state["origin"][part] != value:
                raise AuditError(f"{self.path}: is the state of a run with other {part}; move it away to start anew")
        self.model.module.load_state_dict(state["module"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.done = state["done"]

    def save(self) -> None:
        """Replace the state file."""
        state = {"module": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict()}
        with replacing(self.path) as temporary:
            torch.save(state | {"origin": self.origin, "done": self.done}, temporary)

    def pairs(self, task: str, epoch: int) -> list[Pair]:
        """The B pairs of a task in an epoch: those of all epochs alike if pairs are fixed."""
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
                asked=table.asked,
            )
            for number in range(settings.pairs_per_step)
        ]

    def train(self, watch: Watch | None = None, until: int | None = None) -> None:
        """Go on to epoch `until` (default: the end), or until a loss, gradient or kept weight is not finite.

        Such a run is at its end: `done["diverged_at"]` is the epoch, and later checkpoints are not there.
        watch(epoch, model) is called at each named epoch, before the state moves beyond it: once, or once more after a
        kill. The model, with adapters merged, is its to ask and not to change.
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
        """One epoch: one step per task. It ends before the first step that is not finite."""
        settings, done = self.settings, self.done
        epoch, names, losses = done["epoch"] + 1, list(self.tasks), {}
        if settings.order == "shuffled":
            names = list(seeds.generator(settings.seed, "finetune", "order", epoch).permutation(names))
        for name in map(str, names):
            pairs = self.pairs(name, epoch)
            losses[name] = self.step(*(part.to(self.model.device) for part in batch(self.tasks[name], pairs)))
            if losses[name] is None:
                done["diverged_at"] = epoch
                return
            self._log(name, epoch, pairs)
        done["epoch"] = epoch
        done["history"].append({"epoch": epoch, "loss": losses})

    def step(self, context_x: Tensor, context_y: Tensor, query_x: Tensor, query_y: Tensor) -> float | None:
        """One optimiser step; returns its loss, or None (and no step) if the loss or its gradient is not finite."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        self.optimizer.zero_grad()
        loss = self.model.loss(self.model.forward(context_x, context_y, query_x), context_y, query_y).mean()
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
        """Log the pairs of a step; fixed pairs stand there once, with the first and the last epoch that used them."""
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
        """Every pair that moved the weights: task, epochs (first, last), records `context` (B, n), `query` (B, Q)."""
        return [
            entry | {"context": entry["context"].tolist(), "query": entry["query"].tolist()}
            for entry in self.done["pairs"]
        ]

    def _keep(self, watch: Watch | None) -> None:
        """Write and show the checkpoint of a named epoch, unless the run has diverged."""
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
        """Where a named epoch is kept; there is no file if the run diverged before it."""
        return self.path.with_name(f"epoch-{epoch:04}.safetensors")


def batch(task: Task, pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rows of B pairs: context x (B, n, d), context y (B, n), query x (B, Q, d), query y (B, Q)."""
    context = torch.from_numpy(np.stack([pair.context for pair in pairs]))
    query = torch.from_numpy(np.stack([pair.query for pair in pairs]))
    return task.x[context], task.y[context], task.x[query], task.y[query]


def merged(model: Network) -> Network:
    """A copy of an adapted model with its adapters added into the weights: the module is the package's own again."""
    model = deepcopy(model)
    merge(model.module)
    return model


def restore(model: Network, checkpoint: Path, adapter: Adapter | None = None) -> Network:
    """A copy of the base `model` with the weights of a checkpoint, adapters merged.

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
        records = {"records": task.records} | ({} if task.asked is None else {"asked": task.asked})
        named = {name: torch.from_numpy(rows) for name, rows in records.items()}
        return checkpoint_deltas.fingerprint({"x": task.x, "y": task.y} | named)

    return hashlib.sha256("\0".join([*tasks, *map(table, tasks.values())]).encode()).hexdigest()
