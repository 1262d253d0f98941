"""Synthetic tables for classification or regression, drawn for a whole batch at once.

A prior in the spirit of TabPFN's (structural causal models; Hollmann et al. 2025, Methods) and TabICL's (trees beside
networks; Qu et al. 2025), vectorised over the tables of a batch, so that the prior costs a few percent of a training
step. A table belongs to one of five families: `network` (features and target are nodes of one random causal network),
`forest`, `additive` and `neighbours` (functions of the features), `clusters` (mixtures that depend on the class, or on
a level of the number). The features are then changed as in real tables: warped, binned, with shuffled category codes
and missing values, some irrelevant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from memaudit.models.random_tensors import Draw
from memaudit.models.synthetic_targets import (
    COMPONENTS,
    TARGETS,
    class_counts,
    classes,
    contiguous,
    levels,
    numbers,
    proportions,
    scaled,
)

FAMILIES = ("network", "forest", "additive", "neighbours", "clusters")
LEVELS = 17  # most values of a binned feature


@dataclass(frozen=True)
class Shape:
    """Size of a batch: tables, context rows, query rows, features."""

    tables: int
    context: int
    query: int
    features: int


def tables(shape: Shape, settings: Mapping[str, Any], seed: int) -> tuple[Tensor, Tensor]:
    """Draw a batch: x (tables, context + query, features) with NaN where missing, y (tables, context + query).

    Settings: `families`, the weight of each of FAMILIES; `max_classes`; `binary`, the probability of two classes. The
    classes of a table are 0 .. K-1, all present in its context rows; a query row of a class that the context lacks has
    y = -1. With `max_classes` 0 the targets are numbers, in any unit.
    """
    draw = Draw(seed)
    weights = torch.tensor([float(settings["families"][name]) for name in FAMILIES])
    family = draw.weighted(weights, shape.tables)
    counts = torch.bincount(family, minlength=len(FAMILIES)).tolist()
    rows = shape.context + shape.query
    parts = [
        _table(draw, name, count, rows, shape.features, settings)
        for name, count in zip(FAMILIES, counts, strict=True)
        if count
    ]
    x, y = (torch.cat(part) for part in zip(*parts, strict=True))
    most = settings["max_classes"]
    return _observe(draw, x), contiguous(y, shape.context, most) if most else y


def _table(
    draw: Draw, family: str, count: int, rows: int, features: int, settings: Mapping[str, Any]
) -> tuple[Tensor, Tensor]:
    """Clean features and targets of `count` tables of one family."""
    regression = not settings["max_classes"]
    if family == "clusters":
        x, y = _clusters(draw, count, rows, features, settings)
        return x, numbers(draw, levels(draw, y)) if regression else y
    x, latent = _network(draw, count, rows, features)
    if family != "network":
        latent = {"forest": _forest, "additive": _additive, "neighbours": _neighbours}[family](draw, x)
    noise = draw.log_uniform(count, 1, 1, low=0.03, high=1.5) * draw.coin(count, 1, 1, chance=0.7)
    latent = scaled(latent) + noise * draw.normal(*latent.shape)
    return x, numbers(draw, latent[:, :, 0]) if regression else classes(draw, latent, settings)


def _columns(x: Tensor, index: Tensor) -> Tensor:
    """Columns index (B, k) of x (B, n, d)."""
    return x.gather(2, index[:, None, :].expand(-1, x.shape[1], -1))


def _activate(draw: Draw, h: Tensor) -> Tensor:
    """Each of six blocks of the columns of h (B, n, w) through one random non-linearity."""
    functions = (
        lambda z: z,
        torch.tanh,
        torch.relu,
        lambda z: torch.sin(2 * z),
        torch.abs,
        torch.sign,
        lambda z: z.clamp(-3, 3).square(),
        lambda z: torch.exp(-z.square()),
        lambda z: torch.sigmoid(4 * z),
        torch.floor,
        lambda z: z,
        lambda z: torch.nn.functional.leaky_relu(z, 0.2),
    )
    blocks = h.chunk(6, dim=2)
    picks = draw.integer(0, len(functions) - 1, len(blocks)).tolist()
    return torch.cat([functions[pick](block) for pick, block in zip(picks, blocks, strict=True)], dim=2)


def _roots(draw: Draw, count: int, rows: int, width: int) -> Tensor:
    """Root causes (count, rows, width): Gaussian, bounded or heavy-tailed, from independent to a few common factors."""
    z = draw.normal(count, rows, width)
    kind = draw.integer(0, 3, count, 1, 1)
    z = torch.where(kind == 0, torch.erf(z) * 1.7, z)
    z = torch.where(kind == 1, z * torch.exp(0.5 * draw.normal(count, rows, 1)), z)
    rank = max(1, width // 4)
    factors = draw.normal(count, rows, rank) @ draw.normal(count, rank, width) / rank**0.5
    share = draw.uniform(count, 1, 1) * draw.coin(count, 1, 1, chance=0.7)
    return (1 - share) * z + share * factors


def _network(draw: Draw, count: int, rows: int, features: int) -> tuple[Tensor, Tensor]:
    """Features (count, rows, features) and latent targets (count, rows, TARGETS) of random causal networks.

    In half of the tables the features are the root causes and the targets lie in the last layer; in the others both are
    any nodes.
    """
    depth = int(draw.integer(1, 3))
    width = max(int(draw.log_uniform(1, low=6, high=48)), -(-features // depth))
    layers = [_roots(draw, count, rows, features)]
    jitter = draw.log_uniform(count, 1, 1, low=0.003, high=0.2) * draw.coin(count, 1, 1)
    for _ in range(depth):
        layers.append(_layer(draw, layers[-1], width, jitter))
    nodes = torch.cat(layers, 2)
    total = nodes.shape[2]
    direct = draw.coin(count, 1).float()
    is_root = (torch.arange(total) < layers[0].shape[2]).float()
    is_last = (torch.arange(total) >= total - width).float()
    chosen = (draw.uniform(count, total) + 2 * direct * is_root).topk(features, dim=1).indices
    keys = (draw.uniform(count, total) + is_last * (0.3 + direct)).scatter(1, chosen, -1.0)
    return _columns(nodes, chosen), _columns(nodes, keys.topk(TARGETS, dim=1).indices)


def _layer(draw: Draw, h: Tensor, width: int, jitter: Tensor) -> Tensor:
    """Nodes (B, n, width): noisy non-linear functions of sparse, unequal, random combinations of the nodes h."""
    count, _, before = h.shape
    weights = draw.normal(count, before, width) * draw.log_uniform(count, before, 1, low=0.03, high=3.0)
    density = draw.log_uniform(count, 1, 1, low=min(1.0, 2 / before), high=1.0)
    weights = weights * (draw.uniform(count, before, width) < density)
    h = scaled(h @ weights) * draw.log_uniform(count, 1, width, low=0.3, high=2.0) + 0.5 * draw.normal(count, 1, width)
    h = scaled(_activate(draw, h))
    return h + jitter * draw.normal(*h.shape)


def _relevance(draw: Draw, count: int, features: int) -> Tensor:
    """Weights (count, features) of the features in a function: few to all are relevant, with unequal strength."""
    share = draw.log_uniform(count, 1, low=1 / features, high=1.0)
    relevant = draw.uniform(count, features) < share
    relevant[:, 0] |= ~relevant.any(1)
    return relevant * draw.log_uniform(count, features, low=0.1, high=1.0)


def _forest(draw: Draw, x: Tensor) -> Tensor:
    """Sums of oblivious trees of one depth with Gaussian leaf values: (B, n, d) -> (B, n, TARGETS)."""
    count, rows, features = x.shape
    trees, depth = int(draw.log_uniform(1, low=1, high=16)), int(draw.integer(1, 4))
    split = draw.weighted(_relevance(draw, count, features) + 1e-6, trees * depth)
    at = draw.integer(0, rows - 1, count, 1, trees * depth)
    values = _columns(x, split)
    bits = (values > values.gather(1, at)).view(count, rows, trees, depth)
    leaf = (bits * 2 ** torch.arange(depth)).sum(3) + torch.arange(trees) * 2**depth
    leaf_values = draw.normal(count, trees * 2**depth, TARGETS)
    strength = draw.log_uniform(count, trees, 1, 1, low=0.2, high=1.0).expand(-1, -1, 2**depth, 1).reshape(count, -1, 1)
    flat = leaf.view(count, rows * trees, 1).expand(-1, -1, TARGETS)
    return (leaf_values * strength).gather(1, flat).view(count, rows, trees, TARGETS).sum(2)


def _additive(draw: Draw, x: Tensor) -> Tensor:
    """Weighted sums of one function of each relevant feature, plus a product of two: (B, n, d) -> (B, n, TARGETS)."""
    count, _, features = x.shape
    z = scaled(x)
    linear = draw.coin(count, 1, 1)
    bend = draw.log_uniform(count, 1, features, low=0.5, high=2.0)
    bent = scaled(_activate(draw, z * bend + 0.7 * draw.normal(count, 1, features)))
    weights = _relevance(draw, count, features)[:, :, None] * draw.normal(count, features, TARGETS)
    latent = torch.where(linear, z, bent) @ weights
    left, right = (_columns(z, draw.integer(0, features - 1, count, TARGETS)) for _ in range(2))
    mixed = draw.uniform(count, 1, 1) * draw.coin(count, 1, 1, chance=0.4)
    return scaled(latent) + 1.5 * mixed * left * right


def _neighbours(draw: Draw, x: Tensor) -> Tensor:
    """Values at random rows, smoothed by a Gaussian kernel on relevant features: (B, n, d) -> (B, n, TARGETS)."""
    count, rows, features = x.shape
    z = scaled(x) * _relevance(draw, count, features)[:, None, :]
    centres = min(rows, int(draw.log_uniform(1, low=3, high=30)))
    distance = torch.cdist(z, z[:, :centres]).square()
    width = distance.mean((1, 2), keepdim=True) * draw.log_uniform(count, 1, 1, low=0.03, high=0.5) + 1e-6
    return torch.softmax(-distance / width, 2) @ draw.normal(count, centres, TARGETS)


def _clusters(draw: Draw, count: int, rows: int, features: int, settings: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """Mixtures that depend on a class or a level: prototypes, decoded by a linear map that some tables bend, noise."""
    most, latent = settings["max_classes"] or COMPONENTS, int(draw.log_uniform(1, low=1, high=16))
    modes = int(draw.integer(1, 3))
    y = draw.weighted(proportions(draw, class_counts(draw, count, settings), most), rows)
    mode = y * modes + draw.integer(0, modes - 1, count, rows)
    centre = draw.normal(count, most * modes, latent).gather(1, mode[:, :, None].expand(-1, -1, latent))
    spread = draw.log_uniform(count, 1, 1, low=0.15, high=3.0) * draw.log_uniform(count, 1, latent, low=0.5, high=2.0)
    z = centre + spread * draw.normal(count, rows, latent)
    x = scaled(z @ draw.normal(count, latent, features))
    bent = scaled(_activate(draw, x + 0.5 * draw.normal(count, 1, features)))
    x = torch.where(draw.coin(count, 1, 1, chance=0.6), x, bent)
    own = draw.log_uniform(count, 1, features, low=0.05, high=1.5) * draw.uniform(count, 1, 1)
    return x + own * draw.normal(count, rows, features), y


def _observe(draw: Draw, x: Tensor) -> Tensor:
    """Observed features: some irrelevant, warped, binned or with missing values, in random order."""
    count, rows, features = x.shape
    irrelevant = draw.uniform(count, 1, features) < 0.6 * draw.uniform(count, 1, 1).square()
    irrelevant[:, :, 0] = False
    # Shifting rows removes the dependence on the target and keeps the joint distribution of the shifted columns.
    z = _binned(draw, _warped(draw, scaled(torch.where(irrelevant, x.roll(rows // 2 + 1, 1), x))))
    often = draw.uniform(count, 1, features, high=0.3) * draw.coin(count, 1, features, chance=0.3)
    gap = often * draw.coin(count, 1, 1, chance=0.1)
    z = z.masked_fill(draw.uniform(count, rows, features) < gap, float("nan"))
    return _columns(z, draw.order(count, features))


def _warped(draw: Draw, z: Tensor) -> Tensor:
    """Some columns through an exponential, a signed power, a floor at a threshold, or a saturation."""
    count, _, features = z.shape
    kind = draw.uniform(count, 1, features)
    share = draw.uniform(count, 1, 1) * draw.coin(count, 1, 1, chance=0.6)
    power = draw.log_uniform(count, 1, features, low=0.4, high=2.5)
    warped = torch.exp(draw.uniform(count, 1, features, low=0.4, high=1.6) * z)
    warped = torch.where(kind >= 0.35, z.sign() * (z.abs() + 1e-4) ** power, warped)
    warped = torch.where(kind >= 0.6, (z + draw.uniform(count, 1, features, low=-1)).clamp(min=0), warped)
    warped = torch.where(kind >= 0.8, torch.tanh(2 * power * z), warped)
    return torch.where(draw.uniform(count, 1, features) < share, warped, z)


def _binned(draw: Draw, z: Tensor) -> Tensor:
    """Some columns as ordered levels 0 .. L-1 of unequal frequency, or as category codes: the same levels shuffled."""
    count, _, features = z.shape
    levels = draw.log_uniform(count, 1, features, low=2, high=LEVELS + 0.99).floor()
    spread = torch.sigmoid(1.7 * z.clamp(-4, 4)) ** draw.log_uniform(count, 1, features, low=0.5, high=2.0)
    level = (spread * levels).floor().clamp(max=LEVELS - 1).long()
    beyond = torch.arange(LEVELS) >= levels[:, 0, :, None]
    codes = draw.uniform(count, features, LEVELS).masked_fill(beyond, 2.0).argsort(2)
    code = codes.transpose(1, 2).gather(1, level)
    binned = torch.where(draw.coin(count, 1, features), level, code).float()
    share = draw.uniform(count, 1, 1) * draw.coin(count, 1, 1, chance=0.55)
    return torch.where(draw.uniform(count, 1, features) < share, binned, z)
