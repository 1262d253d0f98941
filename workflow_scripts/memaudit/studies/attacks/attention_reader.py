"""A model that answers queries with the concentration of their attention on the context."""

from functools import partial
from pathlib import Path

from torch import Tensor

from memaudit.attacks.attention_signals import BLOCK, concentration
from memaudit.common.errors import AuditError
from memaudit.models.context_attention import ReadsContext
from memaudit.models.model_protocol import TabularModel


class AttentionReader:
    """A network that answers with the concentration of its attention, for `batched_queries.answer`."""

    task = "classification"  # answers are a tensor

    def __init__(self, network: ReadsContext) -> None:
        self.network, self.module, self.alone = network, network.module, network.alone

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """STATISTICS of the attention in BLOCK, (B, m, statistic); the adversary knows the k of k-anonymous keys."""
        reduce = partial(concentration, k=self.network.anonymity)
        return self.network.in_context_attention(context_x, context_y, query_x, [BLOCK], reduce)[:, :, 0]


def reader(model: TabularModel, card: str | Path) -> AttentionReader:
    """The reader of a model's attention; card: its `model.json`. Raises AuditError for a model without it."""
    if not isinstance(model, ReadsContext):
        raise AuditError(
            f"{card}: white-box attacks read the attention on context rows of TabICL and TabPFN in mode raw, with at "
            "most their number of classes; this model has none: name such a model, or leave them out"
        )
    return AttentionReader(model)
