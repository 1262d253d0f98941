"""Pre-training of a small model on synthetic tables, shared by all families: deterministic and resumable.

A run is a function of its settings: the batch of a step is drawn from a random stream named by the step, the learning
rate is a function of the step, and nothing depends on wall time. A run that is killed continues from its last state and
ends with the same bits. The last weights are the product: no data, real or synthetic, chooses among checkpoints.
"""

import hashlib
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabicl.train._muon import Muon
from torch import Tensor, nn

from memaudit.models import training_state

Settings = Mapping[str, Any]


class PretrainingRun(ABC):
    """A run with its state file: settings, step, weights, optimiser and history of the losses.

    A family gives `batch_loss`, `validation_set` and `validate`.
    """

    def __init__(
        self,
        settings: Settings,
        path: Path,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        counted: Iterable[str] = ("tables",),
    ) -> None:
        """Start, or continue from `path`; counted: what `batch_loss` counts beside the loss.

        A parameter group may have a `share` of the learning rate. Raises AuditError if the state belongs to other
        settings.
        """
        self.settings, self.path, self.model, self.optimizer = settings, path, model, optimizer
        self.done: dict[str, Any] = dict.fromkeys(("step", *counted, "cpu_seconds", "wall_seconds"), 0)
        self.done |= {"running": [], "history": []}
        if done := training_state.resume(path, {"settings": dict(settings)}, model.state_dict(), optimizer):
            self.done = done
        self._started = time.process_time() - self.done["cpu_seconds"], time.perf_counter() - self.done["wall_seconds"]

    @abstractmethod
    def batch_loss(self, step: int) -> tuple[Tensor, Tensor, dict[str, int]]:
        """Loss of the step's batch to descend, loss to report, and what the batch counts."""

    @abstractmethod
    def validation_set(self) -> Any:
        """Synthetic batches that no step trains on."""

    @abstractmethod
    def validate(self, held_out: Any) -> dict[str, float]:
        """Mean losses on the validation set, by name."""

    def save(self) -> None:
        """Replace the state file."""
        origin = {"settings": dict(self.settings)}
        training_state.save(self.path, origin, self.model.state_dict(), self.optimizer, self.done)

    def advance(self) -> None:
        """One optimiser step on one batch."""
        settings, done = self.settings, self.done
        for group in self.optimizer.param_groups:
            rate = learning_rate(done["step"], settings["steps"], settings["optimiser"])
            group["lr"] = group.get("share", 1.0) * rate
        loss, reported, counts = self.batch_loss(done["step"])
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), settings["optimiser"]["clip_norm"])
        self.optimizer.step()
        for name, count in ({"step": 1} | counts).items():
            done[name] += count
        done["running"].append(reported.item())
        done["cpu_seconds"] = time.process_time() - self._started[0]
        done["wall_seconds"] = time.perf_counter() - self._started[1]

    def train(self, until: int | None = None) -> None:
        """Advance to step `until` (default: the end), with a line to the log at every validation."""
        settings, done = self.settings, self.done
        end = min(settings["steps"], until or settings["steps"])
        held_out = self.validation_set()
        while done["step"] < end:
            self.advance()
            last = done["step"] == settings["steps"]
            if done["step"] % settings["validate_every"] == 0 or last:
                self._note_losses(held_out)
            if done["step"] % settings["save_every"] == 0 or last:
                self.save()

    def facts(self, weights: Path, packages: Iterable[str]) -> dict[str, Any]:
        """Return what `model.json` has for every family; weights: the file that was written."""
        done = self.done
        counts = {name: value for name, value in done.items() if name not in ("step", "running")}
        return counts | {
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
            "bytes": weights.stat().st_size,
            "settings": dict(self.settings),
            "steps": done["step"],
            "cpu_seconds": round(done["cpu_seconds"]),
            "wall_seconds": round(done["wall_seconds"]),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
        }

    def _note_losses(self, held_out: Any) -> None:
        done, steps = self.done, self.settings["steps"]
        losses = {"train": float(np.mean(done["running"]))} | self.validate(held_out)
        done["running"] = []
        done["history"].append({"step": done["step"]} | losses)
        rate = done["step"] / done["wall_seconds"]
        rounded = ", ".join(f"{name} {value:.4f}" for name, value in losses.items())
        left = f"{(steps - done['step']) / rate / 60:.0f} min left"
        print(f"step {done['step']}/{steps}  loss: {rounded}  {rate:.2f} steps/s  {left}", flush=True)


def learning_rate(step: int, steps: int, optimiser: Settings) -> float:
    """Linear warm-up, stable, linear decay to zero over the last share `decay` of the steps (Hu et al. 2024, WSD)."""
    warm = min(1.0, (step + 1) / optimiser["warmup"])
    return optimiser["learning_rate"] * min(warm, (steps - step) / (optimiser["decay"] * steps))


def muon(groups: list[dict[str, Any]], optimiser: Settings) -> Muon:
    """Muon (Jordan et al. 2024) for the groups with `use_muon`, AdamW for the others."""
    return Muon(
        groups,
        weight_decay=optimiser["weight_decay"],
        momentum=optimiser["momentum"],
        ns_steps=optimiser["newton_schulz_steps"],
        adamw_betas=tuple(optimiser["betas"]),
    )
