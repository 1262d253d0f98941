"""Attention of queries on the rows of their context, block by block, reduced while a network runs.

The weights of all queries, heads and blocks on all context rows are never held at once: a hook on each block's
attention reduces those of some queries at a time.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

ENTRIES = 2**24  # weights that are held at once

# From weights (b, heads, q, n) of some queries in one block, which sum to 1, and the context's targets (b, n) as the
# module reads them (classes are numbered 0 .. K-1 in each context) to (b, q, ...).
Reduce = Callable[[Tensor, Tensor], Tensor]


def mean_over_heads(weights: Tensor, _targets: Tensor) -> Tensor:
    """Mean weights (b, q, n) of weights (b, heads, q, n)."""
    return weights.mean(1)


@runtime_checkable
class ReadsContext(Protocol):
    """A network whose queries attend to the rows of their context in blocks of in-context learning."""

    anonymity: int  # k of its keys (`anonymous_keys`); 1: keys as they are

    def in_context_attention(
        self,
        context_x: Tensor,
        context_y: Tensor,
        query_x: Tensor,
        blocks: Sequence[int] | None = None,
        reduce: Reduce = mean_over_heads,
    ) -> Tensor:
        """Attention of every query on the context rows, reduced: (B, m, block, ...).

        Tables as for `TabularModel.logits`. blocks: places of blocks, the first is 0 and the last -1; None: all.
        reduce: by default the mean over heads, (B, m, block, n).
        """
        ...


def reduced(
    layers: Sequence[nn.Module],
    run: Callable[[], Any],
    weigh: Callable[[nn.Module, tuple[Tensor, ...]], Tensor],
) -> Tensor:
    """Run a network; return what `weigh` makes of the inputs of these layers, (b, m, layer, ...), m being the queries.

    weigh: from a layer and its positional inputs to (b, m, ...); called as soon as the layer is.
    """
    found: dict[nn.Module, Tensor] = {}

    def weighed(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        found[layer] = weigh(layer, inputs)

    hooks = [layer.register_forward_pre_hook(weighed) for layer in layers]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack([found[layer] for layer in layers], 2)


def in_parts(
    q: Tensor, k: Tensor, reduce: Callable[[Tensor], Tensor], change: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Reduce the softmax weights of queries q (b, heads, m, e) on keys k (b, heads, n, e), some queries at a time.

    reduce: from weights (b, heads, part, n) to (b, part, ...); change: of the logits, as by other keys.
    """
    size = max(1, ENTRIES // (q.shape[0] * q.shape[1] * k.shape[2]))
    scaled = k.transpose(-1, -2) / q.shape[-1] ** 0.5
    logits = (part @ scaled for part in q.split(size, 2))
    return torch.cat([reduce((change(part) if change else part).softmax(-1)) for part in logits], 1)


def mean_values(v: Tensor) -> Callable[[Tensor], Tensor]:
    """A reduction of weights (b, heads, m, n) to the means of values v (b, heads, n, e), heads side by side."""
    return lambda weights: (weights @ v).transpose(1, 2).flatten(2)
