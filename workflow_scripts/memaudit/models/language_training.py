"""Pre-training and fine-tuning of a language model: all weights or LoRA, with differential privacy or without.

A run is a function of its model, texts and settings: the order of an epoch and the dropout of a step come from streams
named by them. A killed run resumes from its last state and ends with the same bits. Only private steps draw noise
without a seed.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from memaudit.common import seeds
from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps
from memaudit.models import dp_sgd, training_state
from memaudit.models.language_models import Ids, losses, mean_loss

SAVE_EVERY = 60.0  # least seconds between two states on the disk
SAVE_SHARE = 20  # and at least so many times as long as the last one took: a large model's state has 110 GB
# Layers whose weights the model reads directly, bypassing the wrappers of peft.
BYPASSED = {"mamba": ["out_proj", "conv1d"]}
Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Lora:
    """Adapters on all linear layers except the head; the default is that of LT-MIA (appendix B)."""

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.05


@dataclass(frozen=True)
class Privacy:
    """DP-SGD (Abadi et al. 2016); the privacy unit is one text. clip: largest norm of a text's gradient."""

    epsilon: float
    delta: float
    clip: float = 1.0


@dataclass(frozen=True)
class Settings:
    """How a model is trained; the default is the fine-tuning of LT-MIA (appendix B).

    AdamW's learning rate rises over the share `warmup` of the steps and then falls linearly to 0.
    """

    epochs: int = 3
    batch: int = 16
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup: float = 0.0
    clip_norm: float = 1.0
    lora: Lora | None = None
    privacy: Privacy | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Settings":
        """Make settings from the nested mappings of a config."""
        nested = {"lora": Lora, "privacy": Privacy}
        built = {name: kind(**values[name]) for name, kind in nested.items() if values.get(name)}
        return cls(**{name: value for name, value in values.items() if name not in nested} | built)


class Run:
    """Training of a model on texts, with its state file.

    The weights of the epoch with the lowest loss on the selection texts are kept; without such texts, the last. done:
    step, history of the losses by epoch, and the best epoch.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        texts: tuple[Ids, Mask],
        selection: tuple[Ids, Mask] | None,
        settings: Settings,
        seed: int,
        path: Path,
    ) -> None:
        """Start, or resume from the state at `path`. Raises AuditError if that belongs to other settings or texts."""
        self.settings, self.seed, self.path, self.selection = settings, seed, path, selection
        self.ids, self.mask = (torch.from_numpy(part) for part in texts)
        if not len(self.ids):
            raise AuditError("language model: no texts to train on; give it some")
        self.model = _adapted(model, settings.lora, seed) if settings.lora else model
        self.weights = {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}
        self.per_epoch = -(-len(self.ids) // settings.batch)
        self.total = settings.epochs * self.per_epoch
        self.guarantee: dict[str, Any] | None = None
        self.optimizer = self._private() if settings.privacy else self._plain()
        self.origin = {"settings or texts": repr((settings, seed, self.ids.shape, int(self.ids.sum())))}
        self.done: dict[str, Any] = {"step": 0, "running": 0.0, "history": [], "best": None}
        self.best: Weights = {}
        if done := training_state.resume(path, self.origin, self.weights, self.optimizer):
            self.done, self.best = done

    def train(self, until: int | None = None) -> PreTrainedModel:
        """Advance to step `until` (default: the end); at the end the model has the best weights, adapters merged."""
        saved, pause = time.monotonic(), SAVE_EVERY
        self.model.train()
        # Dropout draws from the global generators, which are restored for the caller afterwards.
        with torch.random.fork_rng():
            for step in steps(range(self.done["step"], min(self.total, until or self.total)), "training"):
                self._advance(step)
                if (step + 1) % self.per_epoch == 0:
                    self._end_epoch()
                if (started := time.monotonic()) - saved > pause:
                    self.save()
                    saved = time.monotonic()
                    pause = pause_after(saved - started)
        self.model.zero_grad()  # as much memory as the weights, which nothing after a step needs
        if self.done["step"] == self.total:
            self.model.load_state_dict(self.best, strict=False)
            self.model = self.model.merge_and_unload() if self.settings.lora else self.model
        return self.model.eval()

    def save(self) -> None:
        """Replace the state file."""
        training_state.save(self.path, self.origin, self._detached(), self.optimizer, (self.done, self.best))

    def _advance(self, step: int) -> None:
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(step, self.total, settings.warmup)
        torch.manual_seed(seeds.integer(self.seed, "language model", "dropout", step))
        loss = self._private_step() if settings.privacy else self._plain_step(step)
        if not np.isfinite(loss):
            raise AuditError(f"language model: the loss of step {step} is not a number; lower the learning rate")
        self.done["running"] += loss / self.per_epoch
        self.done["step"] = step + 1

    def _plain_step(self, step: int) -> float:
        epoch, part = divmod(step, self.per_epoch)
        order = seeds.generator(self.seed, "language model", "epoch", epoch).permutation(len(self.ids))
        rows = np.sort(order[part * self.settings.batch : (part + 1) * self.settings.batch])
        self.optimizer.zero_grad()  # before the forward pass, which then has their memory
        loss = losses(self.model, self.ids[rows], self.mask[rows]).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights.values(), self.settings.clip_norm)
        self.optimizer.step()
        return loss.item()

    def _private_step(self) -> float:
        """Take a step on randomly sampled texts, each with its own gradient; their losses are not reported."""
        drawn = torch.rand(len(self.ids), generator=self.optimizer.generator, device=self.model.device)
        for row in (drawn < self.guarantee["sampling_rate"]).nonzero()[:, 0].tolist():
            dp_sgd.add(self.optimizer, losses(self.model, self.ids[row : row + 1], self.mask[row : row + 1]))
        dp_sgd.step(self.optimizer)
        return 0.0

    def _end_epoch(self) -> None:
        """Record the losses, and keep the weights if they are the best so far."""
        entry = {} if self.settings.privacy else {"training": self.done["running"]}
        if self.selection:
            entry["selection"] = mean_loss(self.model, *self.selection)
        history, best = self.done["history"], self.done["best"]
        history.append(entry)
        self.done["running"] = 0.0
        if best is None or not self.selection or entry["selection"] < history[best]["selection"]:
            self.done["best"], self.best = len(history) - 1, self._copy()
        print(f"epoch {len(history)}: { {name: round(value, 4) for name, value in entry.items()} }", flush=True)

    def _copy(self) -> Weights:
        """In main memory, as a GPU holds the weights, their gradients and two moments of a large model and no more."""
        return {name: weight.to("cpu", copy=True) for name, weight in self._detached().items()}

    def _detached(self) -> Weights:
        return {name: weight.detach() for name, weight in self.weights.items()}

    def _plain(self) -> torch.optim.Optimizer:
        settings = self.settings
        given = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
        return torch.optim.AdamW(self.weights.values(), **given, fused=True)  # one pass over the weights

    def _private(self) -> torch.optim.Optimizer:
        """AdamW with clipping and noise; sets `guarantee`."""
        settings, privacy = self.settings, self.settings.privacy
        sampling_rate = min(1.0, settings.batch / len(self.ids))
        sigma = dp_sgd.sigma_for(privacy.epsilon, sampling_rate, self.total, privacy.delta)
        run = dp_sgd.Settings(
            seed=self.seed,
            steps=self.total,
            learning_rate=settings.learning_rate,
            sigma=sigma,
            clip=privacy.clip,
            sampling_rate=sampling_rate,
            delta=privacy.delta,
            weight_decay=settings.weight_decay,
        )
        self.guarantee = asdict(replace(dp_sgd.guarantee(run), unit="one text of the members"))
        noise = dp_sgd.unseeded(str(self.model.device))
        return dp_sgd.optimizer_of(self.model, run, len(self.ids), noise)


def pause_after(seconds: float) -> float:
    """Return the seconds to the next state after one that took so many: at most a twentieth of the time is saving."""
    return max(SAVE_EVERY, SAVE_SHARE * seconds)


def rate(step: int, total: int, warmup: float) -> float:
    """Return the share of the learning rate at a step: up over the share `warmup` of all steps, then down to 0."""
    rising = warmup * total
    return (step + 1) / (rising + 1) if step < rising else (total - step) / max(1.0, total - rising)


def _adapted(model: PreTrainedModel, lora: Lora, seed: int) -> nn.Module:
    """Return the model with new adapters, its only trainable weights. Raises AuditError where peft refuses it."""
    import peft  # takes seconds to import, and full fine-tuning does not need it

    left_out = next((names for kind, names in BYPASSED.items() if kind in model.config.model_type), None)
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules="all-linear",
        exclude_modules=left_out,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seeds.integer(seed, "language model", "adapter"))
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            line = str(error).partition("\n")[0]
            raise AuditError(f"LoRA on {model.config.model_type}: {line}; fine-tune it in full") from error
