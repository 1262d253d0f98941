"""Attacks of an adversary who sees attention: the model's reader, score matrices with attention, and their scores."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from torch import Tensor

from memaudit.attacks.attention_signals import BLOCK, GAP, LARGEST, concentration
from memaudit.attacks.registry import Attack, attack
from memaudit.attacks.score_matrices import confidence
from memaudit.common.errors import AuditError
from memaudit.models.context_attention import ReadsContext
from memaudit.models.model_protocol import TabularModel


class AttentionReader:
    """A network that answers with the concentration of its attention, for `batched_queries.answer`."""

    task = "classification"  # answers are a tensor

    def __init__(self, network: ReadsContext) -> None:
        self.network, self.module, self.alone = network, network.module, network.alone

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """STATISTICS of the attention in BLOCK, (B, m, statistic)."""
        return self.network.in_context_attention(context_x, context_y, query_x, [BLOCK], concentration)[:, :, 0]


def reader(model: TabularModel, card: str | Path) -> AttentionReader:
    """The reader of a model's attention; card: its `model.json`. Raises AuditError for a model without it."""
    if not isinstance(model, ReadsContext):
        raise AuditError(
            f"{card}: white-box attacks read the attention on context rows of TabICL and TabPFN in mode raw, with at "
            "most their number of classes; this model has none: name such a model, or leave them out"
        )
    return AttentionReader(model)


def joined(answers: xr.Dataset, attention: xr.Dataset) -> xr.Dataset:
    """The score matrix of the answers with the variable `attention`, on the contexts and records of the latter.

    answers: of one variant, with `design`. Raises AuditError where the contexts are not its first ones.
    """
    same = answers.isel(model=slice(attention.sizes["model"]))
    missing = np.setdiff1d(attention.record.values, answers.record.values)
    same = None if missing.size else same.sel(record=attention.record.values)
    if same is None or not np.array_equal(same.design.values, attention.design.values):
        raise AuditError(f"attacks, data set {answers.dataset}: attention is of other contexts; query it again")
    return same.assign(attention=attention.attention.drop_vars(set(attention.attention.coords) - {"statistic"}))


def white_box(queried: xr.Dataset, population: xr.Dataset, rmia: Mapping[str, float]) -> dict[str, Attack]:
    """The attacks that read attention, by name in the registry.

    queried: score matrix of `joined` of the attacked records; population: the same of records in no context; rmia:
    gamma of RMIA.
    """
    largest, gap = (queried.attention.sel(statistic=name).values.astype(np.float64) for name in (LARGEST, GAP))
    both = np.stack([largest, gap, confidence(queried)], -1)
    options = {"population": confidence(population), "gamma": rmia["gamma"]}
    return {
        "attention": attack("attention", gap),
        "lira attention": attack("lira attention", largest),
        "attention combined": attack("attention combined", both, **options),
    }
