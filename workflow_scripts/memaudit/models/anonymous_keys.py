"""Keys of context rows that are made k-anonymous for queries at risk: a defence against who sees attention.

After the defence of AMIA (Carvalho and Cordy 2026, arXiv 2606.26021), of which the abstract alone was at hand. In the
first block of in-context learning the keys of the rows, nearest to the query first, are replaced by the means of groups
of k: no weight is that of one row. Values stay, so that a query still reads the labels of its neighbours.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

BLOCK = 0  # whose keys are changed: those of later blocks are no longer the rows themselves


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
