"""Keys of context rows that are made k-anonymous for queries at risk: a defence against who sees attention.

After the defence of AMIA (Carvalho and Cordy 2026, arXiv 2606.26021), of which the abstract alone was at hand. In the
first block of in-context learning the keys of the rows, nearest to the query first, are replaced by the means of groups
of K: no weight is that of one row. Values stay, so that a query still reads the labels of its neighbours.

K and THRESHOLD were chosen on scikit-learn's tables (workflow_scripts/maintenance/choose_key_groups.py prints the
comparison): of the powers of two K is the largest one that costs less than 2 points of accuracy on each of them; and
every query is defended, for a threshold tells an adversary who knows it which attention was concentrated.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import torch
from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.model_protocol import TabularModel

K, THRESHOLD = 16, 0.0
BLOCK = 0  # whose keys are changed: those of later blocks are no longer the rows themselves


@runtime_checkable
class HidesRows(Protocol):
    """A network whose queries can read k-anonymous keys."""

    anonymity: int  # k; 1: keys as they are

    def with_anonymous_keys(self, k: int, threshold: float = THRESHOLD) -> Self:
        """The same network, sharing its weights, whose queries read keys as changed by `anonymous`."""
        ...


def hiding_rows(model: TabularModel, k: int, card: str) -> TabularModel:
    """The model with k-anonymous keys; card: its `model.json`. Raises AuditError for a model that cannot have them."""
    if not isinstance(model, HidesRows):
        raise AuditError(
            f"{card}: keys of context rows can be made k-anonymous for TabICL and TabPFN in mode raw, with at most "
            "their number of classes; name such a model, or leave `keys` out"
        )
    return model.with_anonymous_keys(k)


def change_of(k: int, threshold: float) -> Callable[..., Tensor]:
    """`anonymous` with this k and threshold."""
    return partial(anonymous, k=k, threshold=threshold)


def anonymous(logits: Tensor, k: int, threshold: float, rows: int | None = None) -> Tensor:
    """Logits (b, heads, m, n) of queries on keys of which the last `rows` are means of groups of at least k.

    threshold: least gap between the nearest and the second row, in nats of the mean log weight over heads, of a query
    at risk; the others keep their logits. rows: those of the context; None: all n. A row is near by its mean logit
    over heads. A logit is linear in its key, so that of a mean of keys is the mean of logits: no key is computed again.
    """
    first = 0 if rows is None else logits.shape[-1] - rows
    own = logits[..., first:]
    near, order = own.mean(1).sort(-1, descending=True)
    n = own.shape[-1]
    group = (torch.arange(n, device=own.device) // k).clamp_max(max(n // k - 1, 0))
    order = order[:, None].expand_as(own)
    sums = own.new_zeros(*own.shape[:-1], int(group[-1]) + 1).index_add_(-1, group, own.gather(-1, order))
    means = sums / torch.bincount(group)
    changed = torch.empty_like(own).scatter_(-1, order, means[..., group])
    at_risk = (near[..., 0] - near[..., min(1, n - 1)] >= threshold)[:, None, :, None]
    return torch.cat([logits[..., :first], torch.where(at_risk, changed, own)], -1)


@contextmanager
def answering(layer: nn.Module, answer: Callable[[nn.Module, tuple[Any, ...], Any], Any]) -> Iterator[None]:
    """While inside, the layer's output is that of `answer`, from the layer, its positional inputs and its output."""
    hook = layer.register_forward_hook(answer)
    try:
        yield
    finally:
        hook.remove()
