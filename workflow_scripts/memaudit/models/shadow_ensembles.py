"""Ensembles of shadow models, each trained on its own records and evaluated on all records at checkpoints.

Target and shadow models of the study `predict` (predicting memorization, sections 4.2 and 5.1), with checkpoints every
0.2 epoch. Models of a group are trained at once with stacked weights (torch.func), or a group is one model. Weights,
order of records and all other random draws come from streams named by the model's number, and groups do not depend on
the shard: a result does not depend on the shard size. A killed run resumes from its last state and ends with the same
bits.

CPU milliseconds per model and step of 32 records, one thread of a busy machine, one by one / 16 stacked: MLP of three
layers of 64 2.9 / 0.5, of 128 3.6 / 1.0; residual network of 8, 16, 32 channels on 8 x 8 pixels 15.2 / 4.4.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import cos, inf, pi
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, vmap

from memaudit.common import seeds
from memaudit.common.arrays import Array32, Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import readable, replacing
from memaudit.models import training_state
from memaudit.models.classifier_networks import Outputs

SAVE = 20.0  # seconds between two states: the most that a killed run loses
EVALUATED = 4  # training batches in one batch of evaluation
COUNTS = ("trained", "queried", "training_seconds", "query_seconds")


@dataclass(frozen=True)
class Settings:
    """How every model is trained. An epoch is one pass over the model's own records.

    checkpoints: epochs at which models are evaluated on all records, 0 being before training; warmup: epochs over which
    the learning rate rises; decay: how it falls to 0 afterwards; name: of the setting, part of every random stream's
    name; micro_batch: records whose activations are in memory at once, whose gradients are added up; None: the batch.
    """

    seed: int
    name: str
    epochs: float
    batch: int
    learning_rate: float
    checkpoints: tuple[float, ...]
    optimiser: Literal["adamw", "sgd"] = "adamw"
    momentum: float = 0.9
    weight_decay: float = 0.0
    warmup: float = 0.0
    decay: Literal["none", "linear", "cosine"] = "none"
    clip_norm: float = inf
    micro_batch: int | None = None


@dataclass(frozen=True)
class Data:
    """Records x (record, ...) and the place of each one's label among the logits, y (record,).

    rivals: (record, rival) places of the other labels that the logit gap compares with; None: of all other logits.
    padding: number at the end of records of tokens, which fill their length differently; None: records of one length.
    """

    x: Tensor
    y: Tensor
    rivals: Tensor | None = None
    padding: int | None = None

    def batch(self, rows: Tensor) -> Tensor:
        """Records of these rows (..., record); tokens are cut where the longest of them ends."""
        x = self.x[rows]
        return x if self.padding is None else x[..., : int((x != self.padding).sum(-1).max())]

    def order(self) -> Tensor:
        """All rows, records of tokens by their length: then a batch is hardly longer than its records."""
        rows = torch.arange(len(self.x), device=self.x.device)
        return rows if self.padding is None else (self.x != self.padding).sum(1).argsort(stable=True)


class Trace(NamedTuple):
    """Outputs of the models of a group: memory maps of a folder, in nats.

    loss: cross-entropy, gap: logit of the label minus the largest other one, or that of its rivals (appendix C),
    (checkpoint, model, record);
    states: of each watched model, for each layer (checkpoint, record, width); counts: per model, records in training
    and in evaluation (`queried`), and seconds of either (of the processor, on a CPU).
    """

    loss: Array32
    gap: Array32
    states: list[list[Array32]]
    counts: dict[str, float]


class Group:
    """Models that are trained together, with a folder for their state."""

    def __init__(
        self,
        numbers: Sequence[int],
        build: Callable[[int], nn.Module],
        data: Data,
        member: Mask,
        settings: Settings,
        folder: Path,
        watched: int = 0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Start, or resume from the folder's state.

        build: returns the module of a number with its initial weights (those that require gradients are trained, all
        others are the same for every model); member: membership matrix (model, record) of these models; watched: number
        of models, from the first on, whose hidden states are kept; check: called before anything is written. The folder
        must be of these settings and data.
        """
        self.numbers, self.settings, self.member, self.folder, self.watched = numbers, settings, member, folder, watched
        self._data, self._check = data, check
        modules = [build(number) for number in numbers]
        self._module = modules[0].to(data.x.device)
        self._weights = {
            name: torch.stack([module.get_parameter(name).detach() for module in modules]).to(data.x.device)
            for name, weight in modules[0].named_parameters()
            if weight.requires_grad
        }
        for weight in self._weights.values():
            weight.requires_grad_()
        self._optimizer = _optimizer(list(self._weights.values()), settings)
        self._orders: tuple[int, list[tuple[NDArray[np.intp], Array32]]] = (-1, [])
        self.steps = max(1, round(member.shape[1] / 2 / settings.batch))  # of an epoch, the same for every model
        self.at = [round(epoch * self.steps) for epoch in settings.checkpoints]
        if self.at != sorted(set(self.at)):
            raise AuditError(
                f"{settings.name}: checkpoints are less than a step apart ({self.steps} steps an epoch); take smaller"
                " batches, or fewer checkpoints"
            )
        self.step, self.counts, self._finished = 0, dict.fromkeys(COUNTS, 0.0), False
        self._evaluated, self._saved = 0, time.monotonic()  # batches of the next evaluation that are done
        self._origin = {"settings": repr(settings), "models": list(numbers)}
        if done := training_state.resume(folder / "state.pt", self._origin, self._weights, self._optimizer):
            self.step, self.counts, self._finished, self._evaluated = done

    def train(self, until: int | None = None) -> Trace:
        """Train to step `until` (default: the end). Raises AuditError for a model whose loss is not a number."""
        last = round(self.settings.epochs * self.steps)
        end = last if until is None else min(until, last)
        while not self._finished:
            if self.step in self.at:
                self._evaluate(self.at.index(self.step))
            if self.step == end:
                self._finished = end == last
                break
            self._save_in_time()
            self._timed("training", self._advance)
        if self._finished:
            self._save()
        return self._trace()

    def _trace(self) -> Trace:
        loss, gap = (self._map(name) for name in ("loss", "gap"))
        layers = len(list(self.folder.glob("states-0-*.npy")))
        states = [[self._map(f"states-{i}-{layer}") for layer in range(layers)] for i in range(self.watched)]
        return Trace(loss, gap, states, {name: value / len(self.numbers) for name, value in self.counts.items()})

    def _timed(self, what: str, work: Callable[[], int]) -> None:
        cuda = self._data.x.is_cuda
        clock = time.perf_counter if cuda else time.process_time
        start = clock()
        self.counts["trained" if what == "training" else "queried"] += work()
        if cuda:
            torch.cuda.synchronize()
        self.counts[f"{what}_seconds"] += clock() - start

    def _outputs(self, x: Tensor, shared: bool) -> Outputs:
        """Logits (model, B, class) and hidden states (model, B, width); x: (model, B, ...), or shared (B, ...)."""
        if len(self.numbers) == 1:
            own = {name: weight[0] for name, weight in self._weights.items()}
            logits, hidden = functional_call(self._module, own, (x if shared else x[0],))
            return logits[None], [state[None] for state in hidden]

        def one(weights: dict[str, Tensor], records: Tensor) -> Outputs:
            return functional_call(self._module, weights, (records,))

        return vmap(one, in_dims=(0, None if shared else 0))(self._weights, x)

    def _advance(self) -> int:
        """Take one step of every model, each on its own records; return the number of records."""
        epoch, place = divmod(self.step, self.steps)
        if self._orders[0] != epoch:
            self._orders = epoch, self._batches(epoch)
        rows, shares = (torch.from_numpy(part).to(self._data.x.device) for part in self._orders[1][place])
        self._optimizer.zero_grad()
        size = self.settings.micro_batch or rows.shape[1]
        for part, share in zip(rows.split(size, dim=1), shares.split(size, dim=1), strict=True):
            logits, _ = self._outputs(self._data.batch(part), shared=False)
            each = nn.functional.cross_entropy(logits.flatten(0, 1), self._data.y[part].flatten(), reduction="none")
            (each.view_as(share) * share).sum().backward()
        self._clip()
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * self._rate()
        self._optimizer.step()
        self.step, self._evaluated = self.step + 1, 0
        return int((shares > 0).sum())

    def _batches(self, epoch: int) -> list[tuple[NDArray[np.intp], Array32]]:
        """For each step of an epoch: rows (model, B), and the share (model, B) that each has in the model's mean.

        Models have different numbers of records: batches of an epoch differ by one, and shorter ones are padded with a
        row of share 0.
        """
        parts = []
        for number, own in zip(self.numbers, self.member, strict=True):
            rng = seeds.generator(self.settings.seed, "predict", self.settings.name, "order", number, epoch)
            parts.append(np.array_split(rng.permutation(np.flatnonzero(own)), self.steps))
        batches = []
        for batch in zip(*parts, strict=True):
            rows = np.zeros((len(batch), max(map(len, batch))), np.intp)
            shares = np.zeros(rows.shape, np.float32)
            for model, part in enumerate(batch):
                rows[model, : len(part)], shares[model, : len(part)] = part, 1 / max(1, len(part))
            batches.append((rows, shares))
        return batches

    def _clip(self) -> None:
        if self.settings.clip_norm == inf:
            return
        gradients = [weight.grad for weight in self._weights.values()]
        norm = torch.stack([gradient.flatten(1).norm(dim=1) for gradient in gradients]).norm(dim=0)
        factor = (self.settings.clip_norm / norm.clamp(min=1e-12)).clamp(max=1)
        for gradient in gradients:
            gradient.mul_(factor.view(-1, *[1] * (gradient.dim() - 1)))

    def _rate(self) -> float:
        """The learning rate of the next step, as a share of the largest."""
        warm, last = self.settings.warmup * self.steps, self.settings.epochs * self.steps
        if self.step < warm:
            return (self.step + 1) / (warm + 1)
        left = (last - self.step) / (last - warm)
        return {"none": 1.0, "linear": left, "cosine": (1 - cos(pi * left)) / 2}[self.settings.decay]

    def _evaluate(self, checkpoint: int) -> None:
        """Evaluate every model on every record."""
        self._check()
        self.folder.mkdir(parents=True, exist_ok=True)
        count, size = len(self._data.x), EVALUATED * self.settings.batch
        shape = (len(self.at), len(self.numbers), count)
        loss, gap = (self._map(name, shape) for name in ("loss", "gap"))

        @torch.no_grad()
        def evaluate(rows: Tensor) -> int:
            logits, hidden = self._outputs(self._data.batch(rows), shared=True)
            rivals = None if self._data.rivals is None else self._data.rivals[rows]
            places = rows.cpu().numpy()
            loss[checkpoint][:, places], gap[checkpoint][:, places] = _signals(logits, self._data.y[rows], rivals)
            for model in range(self.watched):
                for layer, state in enumerate(hidden):
                    kept = (len(self.at), count, state.shape[-1])
                    self._map(f"states-{model}-{layer}", kept)[checkpoint][places] = state[model].float().cpu()
            return len(rows) * len(self.numbers)

        for rows in self._data.order().split(size)[self._evaluated :]:
            self._timed("query", partial(evaluate, rows))
            self._evaluated += 1
            self._save_in_time()
        if (wrong := ~np.isfinite(loss[checkpoint]).all(1)).any():
            who = f"{self.settings.name}: the loss of model {self.numbers[int(np.argmax(wrong))]}"
            when = f"at epoch {self.settings.checkpoints[checkpoint]:g}"
            raise AuditError(f"{who} is not a number {when}; lower the learning rate, or clip gradients")

    def _map(self, name: str, shape: tuple[int, ...] | None = None) -> Any:
        """Open an array of the folder as a memory map; it is created if missing and a shape is given."""
        path = self.folder / f"{name}.npy"
        if shape and not path.exists():
            with replacing(path) as temporary:
                np.lib.format.open_memmap(temporary, "w+", np.float32, shape)
        with readable(path):
            return np.lib.format.open_memmap(path, "r+" if shape else "r")

    def _save_in_time(self) -> None:
        """Save the state if the last one is SAVE seconds old."""
        if time.monotonic() - self._saved >= SAVE:
            self._save()
            self._saved = time.monotonic()

    def _save(self) -> None:
        """Save the state, when all that it says is evaluated is on the disk."""
        self._check()
        for path in self.folder.glob("*.npy"):
            with readable(path), open(path, "rb") as file:
                os.fsync(file.fileno())
        done = (self.step, self.counts, self._finished, self._evaluated)
        training_state.save(self.folder / "state.pt", self._origin, self._weights, self._optimizer, done)


def _optimizer(weights: list[Tensor], settings: Settings) -> torch.optim.Optimizer:
    shared = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    if settings.optimiser == "sgd":
        return torch.optim.SGD(weights, momentum=settings.momentum, **shared)
    return torch.optim.AdamW(weights, **shared)


def _signals(logits: Tensor, labels: Tensor, rivals: Tensor | None) -> tuple[Array32, Array32]:
    """Loss and logit gap (model, B). logits: (model, B, class); labels: (B,); rivals: (B, rival), None: all others."""
    logits, place = logits.double(), labels.expand(len(logits), -1)[..., None]
    own = logits.gather(-1, place)[..., 0]
    others = logits.scatter(-1, place, -inf)
    loss = nn.functional.softplus(others.logsumexp(-1) - own)
    if rivals is not None:
        others = logits.gather(-1, rivals.expand(len(logits), -1, -1))
    return loss.float().cpu().numpy(), (own - others.amax(-1)).float().cpu().numpy()
