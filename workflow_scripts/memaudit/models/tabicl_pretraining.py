"""Pre-training of a small TabICL on synthetic tables: deterministic, resumable, on one core.

A run is a function of its settings: the batch of a step is drawn from a stream named by the step, the learning rate is
a function of the step, and nothing depends on wall time. A run that is killed continues from its last state and ends
with the same bits. The last weights are the product: no data, real or synthetic, chooses among checkpoints.
"""

import hashlib
import platform
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabicl._model.tabicl import TabICL
from tabicl.train._muon import Muon
from torch import Tensor, nn

from memaudit import seeds
from memaudit.errors import AuditError
from memaudit.io import replacing
from memaudit.models.context_scaling import standardize
from memaudit.models.synthetic_tables import Shape, tables
from memaudit.models.tabicl import pinball

FAR = 20.0  # deviations from the mean: farther numbers would rule a batch's loss
Settings = Mapping[str, Any]
Batch = tuple[Tensor, Tensor, Tensor]  # x (B, n + m, d), context y (B, n), query y (B, m): a class -1 is ignored


def batch_shape(prior: Settings, progress: float, rng: np.random.Generator) -> Shape:
    """Sizes of a batch at `progress` in [0, 1]: context rows and features log-uniform within the curriculum's stage.

    The number of tables fills a budget of cells, so that every batch costs about the same.
    """
    stage = next(stage for stage in prior["curriculum"] if progress <= stage["until"])
    low, high = np.log(stage["context"])
    context = int(np.exp(rng.uniform(low, high)))
    query = max(prior["least_query"], int(context * rng.uniform(*prior["query_share"])))
    features = int(np.exp(rng.uniform(np.log(2), np.log(stage["features"] + 1))))
    cost = (context + query) * (features / prior["features_per_token"] + prior["row_cost"])
    return Shape(int(np.clip(prior["cells"] / cost, *prior["tables"])), context, query, features)


def batch(prior: Settings, shape: Shape, seed: int) -> Batch:
    """A batch of synthetic tables, standardised as at inference."""
    x, y = tables(shape, prior, seed)
    x = torch.cat(standardize(x[:, : shape.context], x[:, shape.context :], prior["clip"]), 1)
    context_y, query_y = y[:, : shape.context], y[:, shape.context :]
    if not prior["max_classes"]:
        context_y, query_y = scale_targets(context_y, query_y)
    return x, context_y, query_y


def scale_targets(context_y: Tensor, query_y: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers in units of their context's deviation from its mean, as at inference; far ones are held at FAR."""
    mean, deviation = context_y.mean(1, keepdim=True), context_y.std(1, correction=0, keepdim=True).clamp(min=1e-6)
    return (context_y - mean) / deviation, ((query_y - mean) / deviation).clamp(-FAR, FAR)


def loss_of(model: TabICL, x: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
    """Mean loss of the query rows: pinball over all quantiles, or cross-entropy over the classes of the context."""
    if not model.max_classes:
        return pinball(model(x, context_y), query_y).mean()
    logits = model(x, context_y.float())
    absent = torch.arange(logits.shape[2]) > context_y.amax(1)[:, None, None]
    return nn.functional.cross_entropy(
        logits.masked_fill(absent, -1e9).flatten(0, 1), query_y.flatten(), ignore_index=-1
    )


def learning_rate(step: int, steps: int, optimiser: Settings) -> float:
    """Linear warm-up, stable, linear decay to zero over the last share `decay` of the steps (Hu et al. 2024, WSD)."""
    warm = min(1.0, (step + 1) / optimiser["warmup"])
    decay = min(1.0, (steps - step) / (optimiser["decay"] * steps))
    return optimiser["learning_rate"] * min(warm, decay)


def optimizer_of(model: nn.Module, optimiser: Settings) -> torch.optim.Optimizer:
    """Muon (Jordan et al. 2024) for the matrices of the transformer blocks, AdamW for all other parameters."""

    def matrix(name: str, p: nn.Parameter) -> bool:
        return p.ndim == 2 and ".blocks." in name and "ssmax" not in name

    groups = [
        {"params": [p for name, p in model.named_parameters() if matrix(name, p) == muon], "use_muon": muon}
        for muon in (True, False)
    ]
    return Muon(
        groups,
        weight_decay=optimiser["weight_decay"],
        momentum=optimiser["momentum"],
        ns_steps=optimiser["newton_schulz_steps"],
        adamw_betas=tuple(optimiser["betas"]),
    )


def validation_set(settings: Settings) -> list[Batch]:
    """Synthetic batches that no step trains on, eight tables each, sizes as at the end of the curriculum."""
    prior, seed = settings["prior"], settings["seed"]
    rng = seeds.generator(seed, "pretrain", "validation")
    shapes = [batch_shape(prior, 1.0, rng) for _ in range(settings["validation_batches"])]
    return [
        batch(prior, Shape(8, s.context, s.query, s.features), seeds.integer(seed, "pretrain", "validation", i))
        for i, s in enumerate(shapes)
    ]


@torch.no_grad()
def validate(model: TabICL, held_out: list[Batch]) -> float:
    """Mean loss over the held-out batches, in nats or, for numbers, in deviations of the context."""
    return float(np.mean([loss_of(model, *item).item() for item in held_out]))


class Run:
    """A pre-training run with its state file: settings, step, weights, optimiser and history of the losses."""

    def __init__(self, settings: Settings, path: Path) -> None:
        """Start, or continue from `path`. Raises AuditError if that state belongs to other settings."""
        self.settings, self.path = settings, path
        torch.manual_seed(seeds.integer(settings["seed"], "pretrain", "init"))
        self.model = TabICL(**settings["architecture"]).train()
        self.optimizer = optimizer_of(self.model, settings["optimiser"])
        self.done: dict[str, Any] = {
            "step": 0,
            "tables": 0,
            "cpu_seconds": 0.0,
            "wall_seconds": 0.0,
            "running": [],
            "history": [],
        }
        if path.exists():
            self._resume()
        self._started = time.process_time() - self.done["cpu_seconds"], time.perf_counter() - self.done["wall_seconds"]

    def _resume(self) -> None:
        state = torch.load(self.path, weights_only=True)
        if state["settings"] != dict(self.settings):
            raise AuditError(f"{self.path}: is the state of a run with other settings; move it away to start anew")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.done = state["done"]

    def save(self) -> None:
        """Replace the state file."""
        with replacing(self.path) as temporary:
            torch.save(
                {
                    "settings": dict(self.settings),
                    "done": self.done,
                    "model": self.model.state_dict(),
                    "optimizer": self.optimizer.state_dict(),
                },
                temporary,
            )

    def advance(self) -> None:
        """One optimiser step on one batch."""
        settings, done = self.settings, self.done
        step, steps, seed = done["step"], settings["steps"], settings["seed"]
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, settings["optimiser"])
        shape = batch_shape(settings["prior"], step / steps, seeds.generator(seed, "pretrain", "shape", step))
        loss = loss_of(self.model, *batch(settings["prior"], shape, seeds.integer(seed, "pretrain", "tables", step)))
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), settings["optimiser"]["clip_norm"])
        self.optimizer.step()
        done["step"] += 1
        done["tables"] += shape.tables
        done["running"].append(loss.item())
        done["cpu_seconds"] = time.process_time() - self._started[0]
        done["wall_seconds"] = time.perf_counter() - self._started[1]

    def train(self, until: int | None = None) -> None:
        """Advance to step `until` (default: the end), with a line to the log at every validation."""
        steps, done = self.settings["steps"], self.done
        held_out = validation_set(self.settings)
        while done["step"] < min(steps, until or steps):
            self.advance()
            if done["step"] % self.settings["validate_every"] == 0 or done["step"] == steps:
                self._validate(held_out)
            if done["step"] % self.settings["save_every"] == 0 or done["step"] == steps:
                self.save()

    def _validate(self, held_out: list[Batch]) -> None:
        done, steps = self.done, self.settings["steps"]
        entry = {
            "step": done["step"],
            "train": float(np.mean(done["running"])),
            "held_out": validate(self.model, held_out),
        }
        done["running"] = []
        done["history"].append(entry)
        rate = done["step"] / done["wall_seconds"]
        print(
            f"step {done['step']}/{steps}  loss {entry['train']:.4f}  held out {entry['held_out']:.4f}  "
            f"{rate:.2f} steps/s  {(steps - done['step']) / rate / 60:.0f} min left",
            flush=True,
        )


def write_checkpoint(model: TabICL, architecture: Settings, path: Path) -> None:
    """Write a checkpoint that tabicl's own estimators load."""
    with replacing(path) as temporary:
        torch.save({"config": dict(architecture), "state_dict": model.state_dict()}, temporary)


def facts(run: Run, checkpoint: Path) -> dict[str, Any]:
    """What `model.json` says of a finished run."""
    settings, done = run.settings, run.done
    return {
        "family": "tabicl",
        "task": "classification" if run.model.max_classes else "regression",
        "max_classes": settings["architecture"]["max_classes"],
        "clip": settings["prior"]["clip"],
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "sha256": hashlib.sha256(checkpoint.read_bytes()).hexdigest(),
        "bytes": checkpoint.stat().st_size,
        "settings": dict(settings),
        "steps": done["step"],
        "tables": done["tables"],
        "cpu_seconds": round(done["cpu_seconds"]),
        "wall_seconds": round(done["wall_seconds"]),
        "history": done["history"],
        "command": "python workflow_scripts/models/pretrain_tabicl.py --output CHECKPOINT MODEL_JSON --params SETTINGS",
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "tabicl", "numpy")},
        },
    }
