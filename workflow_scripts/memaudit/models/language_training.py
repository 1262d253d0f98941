"""Pre-training and fine-tuning of a language model: all weights or LoRA, with differential privacy or without.

A run is a function of its model, texts and settings: the order of an epoch and the dropout of a step come from streams
named by them. Killed, it goes on from its last state and ends with the same bits. Private steps alone draw noise that
has no seed.
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

from memaudit import seeds
from memaudit.arrays import Mask
from memaudit.errors import AuditError
from memaudit.io import replacing
from memaudit.models.language_models import Ids, losses, mean_loss
from memaudit.workflow.progress_bar import steps

SAVE_EVERY = 60.0  # seconds between two states on the disk
# Their layers read the weights of these themselves, past what peft puts around them.
UNTOUCHED = {"mamba": ["out_proj", "conv1d"]}
Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Lora:
    """Adapters on all linear layers but the head; the default is the paper's (Appendix B)."""

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.05


@dataclass(frozen=True)
class Privacy:
    """DP-SGD (Abadi et al. 2016); the unit is one text. clip: largest norm of a text's gradient."""

    epsilon: float
    delta: float
    clip: float = 1.0


@dataclass(frozen=True)
class Settings:
    """How a model is trained; the default is the paper's fine-tuning (Appendix B).

    The learning rate, AdamW's, rises over the share `warmup` of the steps and falls to 0 in a straight line.
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
        """Settings from nested mappings, as they stand in a config."""
        nested = {"lora": Lora, "privacy": Privacy}
        built = {name: kind(**values[name]) for name, kind in nested.items() if values.get(name)}
        return cls(**{name: value for name, value in values.items() if name not in nested} | built)


class Run:
    """Training of a model on texts, with its state file.

    Of all epochs the weights with the lowest loss on the selection texts are kept; without such texts, the last. done:
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
        """Start, or go on from the state at `path`. Raises AuditError if that belongs to other settings or texts."""
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
        self.identity = repr((settings, seed, self.ids.shape, int(self.ids.sum())))
        self.done: dict[str, Any] = {"step": 0, "running": 0.0, "history": [], "best": None}
        self.best: Weights = {}
        if path.exists():
            self._resume()

    def train(self, until: int | None = None) -> PreTrainedModel:
        """Advance to step `until` (default: the end); at the end the model has the best weights, adapters merged."""
        saved = time.monotonic()
        self.model.train()
        # Dropout draws from the global generators: they are the caller's again afterwards.
        with torch.random.fork_rng():
            for step in steps(range(self.done["step"], min(self.total, until or self.total)), "training"):
                self._advance(step)
                if (step + 1) % self.per_epoch == 0:
                    self._end_epoch()
                if time.monotonic() - saved > SAVE_EVERY:
                    self.save()
                    saved = time.monotonic()
        if self.done["step"] == self.total:
            self.model.load_state_dict(self.best, strict=False)
            self.model = self.model.merge_and_unload() if self.settings.lora else self.model
        return self.model.eval()

    def save(self) -> None:
        """Replace the state file."""
        state = {"identity": self.identity, "done": self.done, "optimizer": self.optimizer.state_dict()}
        state |= {"weights": self._copy(), "best": self.best}
        with replacing(self.path) as temporary:
            torch.save(state, temporary)

    def _resume(self) -> None:
        state = torch.load(self.path, weights_only=True)
        if state["identity"] != self.identity:
            raise AuditError(f"{self.path}: is the state of a run with other settings; move it away to start anew")
        self.model.load_state_dict(state["weights"], strict=False)
        self.optimizer.load_state_dict(state["optimizer"])
        self.done, self.best = state["done"], state["best"]

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
        loss = losses(self.model, self.ids[rows], self.mask[rows]).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights.values(), self.settings.clip_norm)
        self.optimizer.step()
        return loss.item()

    def _private_step(self) -> float:
        """A step on texts drawn by chance, each with a gradient of its own; what they lose is not told."""
        from memaudit.models import dp_sgd

        drawn = torch.rand(len(self.ids), generator=self.optimizer.generator, device=self.model.device)
        for row in (drawn < self.guarantee["sampling_rate"]).nonzero()[:, 0].tolist():
            dp_sgd.add(self.optimizer, losses(self.model, self.ids[row : row + 1], self.mask[row : row + 1]))
        dp_sgd.step(self.optimizer)
        return 0.0

    def _end_epoch(self) -> None:
        """Note the losses, and keep the weights if none before were better."""
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
        return {name: weight.detach().clone() for name, weight in self.weights.items()}

    def _plain(self) -> torch.optim.Optimizer:
        settings = self.settings
        return torch.optim.AdamW(self.weights.values(), settings.learning_rate, weight_decay=settings.weight_decay)

    def _private(self) -> torch.optim.Optimizer:
        """AdamW behind clipping and noise; `guarantee` is what it promises."""
        from memaudit.models import dp_sgd  # opacus takes seconds

        settings, wanted = self.settings, self.settings.privacy
        chance = min(1.0, settings.batch / len(self.ids))
        sigma = dp_sgd.sigma_for(wanted.epsilon, chance, self.total, wanted.delta)
        run = dp_sgd.Settings(
            seed=self.seed,
            steps=self.total,
            learning_rate=settings.learning_rate,
            sigma=sigma,
            clip=wanted.clip,
            sampling_rate=chance,
            delta=wanted.delta,
            weight_decay=settings.weight_decay,
        )
        self.guarantee = asdict(replace(dp_sgd.guarantee(run), unit="one text of the members"))
        noise = dp_sgd.unseeded(str(self.model.device))
        return dp_sgd.optimizer_of(self.model, run, len(self.ids), noise)


def rate(step: int, total: int, warmup: float) -> float:
    """Share of the learning rate at a step: up over the share `warmup` of all steps, then down to 0."""
    rising = warmup * total
    return (step + 1) / (rising + 1) if step < rising else (total - step) / max(1.0, total - rising)


def _adapted(model: PreTrainedModel, lora: Lora, seed: int) -> nn.Module:
    """The model with fresh adapters, the only weights that train. Raises AuditError where peft refuses it."""
    import peft  # takes seconds, and full fine-tuning does without

    left_out = next((names for kind, names in UNTOUCHED.items() if kind in model.config.model_type), None)
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
