"""Equal neighbouring context rows as one row that attention counts as often: the same answers from fewer rows.

Softmax attention over c equal keys with equal values is that over one of them whose logit is larger by log c. So a
network whose layers treat rows one by one, but for attention on context rows, need not compute any row twice. Contexts
of duplicates (ICLMEM, section 4.2; Brainwash, TabPATE, A.1) have few different rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Merged(NamedTuple):
    """x: (b, u + m, d) rows, the context's first; y: (b, u) targets; weights: (b, u) log counts, -inf of no row."""

    x: Tensor
    y: Tensor
    weights: Tensor


def merged(x: Tensor, y: Tensor) -> Merged | None:
    """The rows x (b, n + m, d) of tables with n context targets y (b, n), neighbours that are equal in both merged.

    u is the largest number of rows left in a table; others are filled with rows of weight -inf. None where u is n.
    """
    n = y.shape[1]
    new = torch.ones_like(y, dtype=torch.bool)
    new[:, 1:] = (x[:, 1:n] != x[:, : n - 1]).any(-1) | (y[:, 1:] != y[:, :-1])
    left = int(new.sum(1).max())
    if left == n:
        return None
    run = new.cumsum(1) - 1
    counts = torch.zeros(len(y), left, dtype=torch.int64, device=y.device).scatter_add_(1, run, torch.ones_like(run))
    first = (counts.cumsum(1) - counts).clamp(max=n - 1)
    rows = x[:, :n].gather(1, first[..., None].expand(-1, -1, x.shape[2]))
    return Merged(torch.cat([rows, x[:, n:]], 1), y.gather(1, first), counts.to(x.dtype).log())


@contextmanager
def counted(layers: Sequence[nn.Module], weights: Tensor, rows: Sequence[int]) -> Iterator[None]:
    """Let attention on context rows weigh them by `weights` (b, u), and scale queries as for `rows` (b,) rows.

    layers: attention of the package tabicl, which is called with context rows (b, ..., u, e) as keys. Tables with as
    many rows are faster as neighbours.
    """
    hooks = [layer.register_forward_pre_hook(partial(_weighted, weights), with_kwargs=True) for layer in layers]
    scaling = [(layer, layer.ssmax_layer) for layer in layers if layer.ssmax_layer is not None]
    for layer, scale in scaling:
        layer.ssmax_layer = _ScaledByTable(scale, rows)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for layer, scale in scaling:
            layer.ssmax_layer = scale


def _weighted(
    weights: Tensor, _layer: nn.Module, inputs: tuple[Tensor, ...], named: dict[str, Any]
) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    shape = inputs[1].shape[:-1]  # of keys, (b, ..., u)
    return inputs, named | {"key_padding_mask": weights.view(len(weights), *[1] * (len(shape) - 2), -1).expand(shape)}


class _ScaledByTable(nn.Module):
    """Scalable softmax of the package, which takes one number of rows for all tables, by each table's own."""

    def __init__(self, scale: nn.Module, rows: Sequence[int]):
        super().__init__()
        self.scale = scale
        self.runs = [(number, len(list(tables))) for number, tables in groupby(rows)]

    def forward(self, q: Tensor, _rows: int) -> Tensor:
        """Queries q (b * ..., heads, m, e), scaled."""
        each = len(q) // sum(tables for _, tables in self.runs)
        parts = q.split([each * tables for _, tables in self.runs])
        scaled = [self.scale(part, number) for part, (number, _) in zip(parts, self.runs, strict=True)]
        return scaled[0] if len(scaled) == 1 else torch.cat(scaled)
