"""Pre-training of a small TabICL on synthetic tables, on one core (see `pretraining_run`)."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabicl._model.tabicl import TabICL
from torch import Tensor, nn

from memaudit.common import seeds
from memaudit.common.io import replacing
from memaudit.models.context_scaling import standardize
from memaudit.models.pretraining_run import PretrainingRun, Settings, muon
from memaudit.models.synthetic_tables import Shape, tables
from memaudit.models.tabicl import pinball

FAR = 20.0  # deviations from the mean: larger numbers would dominate a batch's loss
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
    """Numbers in units of their context's deviation from its mean, as at inference, clipped at FAR."""
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


def optimizer_of(model: nn.Module, optimiser: Settings) -> torch.optim.Optimizer:
    """Muon for the matrices of the transformer blocks, AdamW for all other parameters."""

    def matrix(name: str, p: nn.Parameter) -> bool:
        return p.ndim == 2 and ".blocks." in name and "ssmax" not in name

    groups = [
        {"params": [p for name, p in model.named_parameters() if matrix(name, p) == use_muon], "use_muon": use_muon}
        for use_muon in (True, False)
    ]
    return muon(groups, optimiser)


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


class Run(PretrainingRun):
    """A pre-training run of a TabICL."""

    def __init__(self, settings: Settings, path: Path) -> None:
        """Start, or continue from `path`. Raises AuditError if that state belongs to other settings."""
        torch.manual_seed(seeds.integer(settings["seed"], "pretrain", "init"))
        model = TabICL(**settings["architecture"]).train()
        super().__init__(settings, path, model, optimizer_of(model, settings["optimiser"]))

    def batch_loss(self, step: int) -> tuple[Tensor, Tensor, dict[str, int]]:
        settings, seed = self.settings, self.settings["seed"]
        rng = seeds.generator(seed, "pretrain", "shape", step)
        shape = batch_shape(settings["prior"], step / settings["steps"], rng)
        tables_of_step = batch(settings["prior"], shape, seeds.integer(seed, "pretrain", "tables", step))
        loss = loss_of(self.model, *tables_of_step)
        return loss, loss, {"tables": shape.tables}

    def validation_set(self) -> list[Batch]:
        return validation_set(self.settings)

    def validate(self, held_out: list[Batch]) -> dict[str, float]:
        return {"held_out": validate(self.model, held_out)}


def write_checkpoint(model: TabICL, architecture: Settings, path: Path) -> None:
    """Write a checkpoint that tabicl's own estimators load."""
    with replacing(path) as temporary:
        torch.save({"config": dict(architecture), "state_dict": model.state_dict()}, temporary)


def facts(run: Run, checkpoint: Path) -> dict[str, Any]:
    """Return the contents of `model.json` for a finished run."""
    return run.facts(checkpoint, ("torch", "tabicl", "numpy")) | {
        "family": "tabicl",
        "task": "classification" if run.model.max_classes else "regression",
        "max_classes": run.settings["architecture"]["max_classes"],
        "clip": run.settings["prior"]["clip"],
        "command": "python workflow_scripts/models/pretrain_tabicl.py --output CHECKPOINT MODEL_JSON --params SETTINGS",
    }
