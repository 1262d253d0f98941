"""Targets of synthetic tables: classes from latent targets, or numbers with the shapes of real targets."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from memaudit.models.random_tensors import Draw

TARGETS = 4  # latent targets of a table; classes are cut from the first, or are regions of several
COMPONENTS = 10  # components of a mixture where the target is a number


def scaled(x: Tensor) -> Tensor:
    """Each column standardised over rows."""
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-4)


def class_counts(draw: Draw, count: int, settings: Mapping[str, Any]) -> Tensor:
    """Number of classes of each table: two with chance settings["binary"], else uniform up to max_classes."""
    most = settings["max_classes"] or COMPONENTS
    return torch.where(draw.coin(count, chance=settings["binary"]), 2, draw.integer(2, most, count))


def proportions(draw: Draw, classes: Tensor, most: int) -> Tensor:
    """Class proportions (B, most), zero beyond each table's number of classes; from equal to strongly unequal."""
    spread = draw.uniform(len(classes), 1, high=1.2)
    weight = torch.exp(spread * draw.normal(len(classes), most)) * (torch.arange(most) < classes[:, None])
    return weight / weight.sum(1, keepdim=True)


def classes(draw: Draw, latent: Tensor, settings: Mapping[str, Any]) -> Tensor:
    """Classes (B, n) of latent targets (B, n, TARGETS): intervals or regions, some labels noisy, mostly shuffled."""
    count, rows, _ = latent.shape
    most = settings["max_classes"]
    sizes = class_counts(draw, count, settings)
    intervals = _intervals(draw, latent[:, :, 0], sizes, most)
    regions = _regions(draw, latent, sizes, most)
    # Two classes are nearly always a threshold on one latent in real tables; many classes are more often regions.
    in_regions = draw.uniform(count, 1) < torch.where(sizes > 2, 0.6, 0.2)[:, None]
    y = torch.where(in_regions, regions, intervals)
    noisy = draw.uniform(count, rows) < draw.uniform(count, 1, high=0.25) * draw.coin(count, 1, chance=0.2)
    y = torch.where(noisy, y.gather(1, draw.order(count, rows)), y)
    names = draw.uniform(count, most).masked_fill(torch.arange(most) >= sizes[:, None], 2.0).argsort(1)
    ordered = draw.coin(count, 1, chance=0.3)
    return torch.where(ordered, y, names.gather(1, y))


def _intervals(draw: Draw, latent: Tensor, classes: Tensor, most: int) -> Tensor:
    """Classes (B, n) as intervals of the rank of latent (B, n); in some tables a class is several intervals."""
    count, rows = latent.shape
    cuts = proportions(draw, classes, most).cumsum(1)
    rank = (latent.argsort(1).argsort(1) + 0.5) / rows
    y = torch.searchsorted(cuts, rank).clamp(max=most - 1)
    class_of = draw.integer(0, 10**6, count, most) % classes[:, None]
    piece = (rank * draw.integer(3, most, count, 1)).long()
    return torch.where(draw.coin(count, 1, chance=0.12), class_of.gather(1, piece), y)


def _regions(draw: Draw, latent: Tensor, classes: Tensor, most: int) -> Tensor:
    """Classes (B, n) as the nearest of random rows, one a class, in two to four latent targets (B, n, TARGETS)."""
    count, rows, _ = latent.shape
    centres = latent.gather(1, draw.order(count, rows)[:, :most, None].expand(-1, -1, TARGETS))
    active = draw.integer(2, TARGETS, count, 1, 1) > torch.arange(TARGETS)
    distance = torch.cdist(latent * active, centres * active) + draw.uniform(count, 1, most) * draw.coin(count, 1, 1)
    return distance.masked_fill((torch.arange(most) >= classes[:, None])[:, None, :], float("inf")).argmin(2)


def contiguous(y: Tensor, context: int, most: int) -> Tensor:
    """Relabel so that the classes of the context rows are 0 .. K-1; other classes become -1."""
    present = torch.zeros(len(y), most, dtype=torch.bool).scatter(1, y[:, :context], True)
    label = torch.where(present, present.cumsum(1) - 1, -1)
    return label.gather(1, y)


def levels(draw: Draw, component: Tensor) -> Tensor:
    """Latent numbers (B, n) of mixture components (B, n): one random level each, and noise within a component."""
    level = draw.normal(len(component), COMPONENTS).gather(1, component)
    return level + draw.log_uniform(len(component), 1, low=0.03, high=1.0) * draw.normal(*component.shape)


def numbers(draw: Draw, latent: Tensor) -> Tensor:
    """Numbers (B, n) from latent ones: some skewed, with heavy tails, a floor or a ceiling, or rounded."""
    count = len(latent)
    z = scaled(latent)
    kind = draw.uniform(count, 1)
    power = draw.log_uniform(count, 1, low=0.5, high=1.8)
    cut = draw.uniform(count, 1, low=-1.5, high=0.5)
    y = torch.where(kind < 0.2, torch.exp(draw.uniform(count, 1, low=0.2, high=1.0) * z), z)
    y = torch.where((kind >= 0.2) & (kind < 0.35), z.sign() * (z.abs() + 1e-4) ** power, y)
    y = torch.where((kind >= 0.35) & (kind < 0.45), torch.maximum(z, cut), y)
    steps = draw.log_uniform(count, 1, low=1.0, high=10.0)
    y = torch.where(draw.coin(count, 1, chance=0.25), (steps * scaled(y)).round(), y)
    return y * torch.where(draw.coin(count, 1), 1.0, -1.0)
