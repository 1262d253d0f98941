"""Predicted distributions of numbers: bins of known mass between open tails, from bars, quantiles or a normal."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

LEAST = 1e-4  # least width of a bin between quantiles, in deviations of the context's targets: caps the density
TAIL_SHARE = 0.1  # the outer tenth of the quantiles gives the scale of a tail
REACH, STEP = 8.0, 0.02  # a normal distribution's outermost border and the width of its bins, in deviations


@dataclass(frozen=True)
class Binned:
    """One distribution per query: uniform within inner bins, a tail of known mass on either side.

    borders: (..., J), increasing, in the target's unit; log_mass: (..., J + 1), the left tail, J - 1 bins, the right
    tail, in nats; scales: (..., 2), of the tails, in the target's unit; tail: their shape beyond the borders.
    """

    borders: Tensor
    log_mass: Tensor
    scales: Tensor
    tail: Literal["half_normal", "exponential"]

    @classmethod
    def from_bars(cls, logits: Tensor, borders: Tensor) -> "Binned":
        """TabPFN's head (Hollmann et al. 2025): logits (..., K) of bars between borders (..., K + 1).

        The outermost bars are half-normal tails whose median lies at the bar's end, as in the package's
        FullSupportBarDistribution.
        """
        widths = torch.stack([borders[..., 1] - borders[..., 0], borders[..., -1] - borders[..., -2]], -1)
        median = math.sqrt(2) * torch.erfinv(torch.tensor(0.5, dtype=torch.float64)).item()
        shape = logits.shape[:-1]
        inner = borders[..., 1:-1].expand(*shape, -1)
        return cls(inner, logits.log_softmax(-1), (widths / median).expand(*shape, 2), "half_normal")

    @classmethod
    def from_quantiles(cls, quantiles: Tensor) -> "Binned":
        """TabICL's head (Qu et al. 2026): quantiles (..., K) at the levels 1/(K+1) .. K/(K+1), in any order.

        Equal mass between neighbours; each tail is exponential, its scale the mean slope of its outer quantiles against
        the logarithm of their level.
        """
        borders = quantiles.sort(-1).values
        count = borders.shape[-1]
        steps = torch.arange(count, device=borders.device, dtype=borders.dtype)
        # Equal quantiles would have infinite density: neighbours are kept at least LEAST apart.
        apart = torch.cummax(borders - LEAST * steps, -1).values + LEAST * steps
        log_mass = torch.full_like(apart[..., :1], -math.log(count + 1)).expand(*apart.shape[:-1], count + 1)
        outer = max(2, round(TAIL_SHARE * count))
        rise = torch.log(steps[1:outer] + 1)
        left = ((apart[..., 1:outer] - apart[..., :1]) / rise).mean(-1)
        right = ((apart[..., -1:] - apart.flip(-1)[..., 1:outer]) / rise).mean(-1)
        return cls(apart, log_mass, torch.stack([left, right], -1), "exponential")

    @classmethod
    def from_normal(cls, mean: Tensor, deviation: Tensor) -> "Binned":
        """Normal distributions (...): fine bins, and exponential tails that start at the normal density."""
        borders = torch.linspace(-REACH, REACH, round(2 * REACH / STEP) + 1, device=mean.device)
        squares = torch.cat([(borders[1:] + borders[:-1]) / 2, borders[-1:]]).square()
        density = -(squares + math.log(2 * math.pi)) / 2
        beyond = torch.special.log_ndtr(borders[:1])
        log_mass = torch.cat([beyond, density[:-1] + math.log(STEP), beyond]).log_softmax(-1)
        fall, shape = (beyond - density[-1]).exp(), mean.shape
        parts = (part.expand(*shape, -1) for part in (borders, log_mass, fall.expand(2)))
        return cls(*parts, "exponential").scaled(deviation[..., None], mean[..., None])

    @classmethod
    def joined(cls, join: Callable[[list[Tensor]], Tensor], parts: Sequence["Binned"]) -> "Binned":
        """Join distributions of one kind; join is torch.cat or torch.stack, along the leading axis."""
        tensors = ([getattr(part, name) for part in parts] for name in ("borders", "log_mass", "scales"))
        return cls(*(join(part) for part in tensors), parts[0].tail)

    def each(self, do: Callable[[Tensor], Tensor]) -> "Binned":
        """Apply `do` to every tensor, for instance to move them to a device or to select queries."""
        return Binned(do(self.borders), do(self.log_mass), do(self.scales), self.tail)

    def scaled(self, scale: Tensor, shift: Tensor) -> "Binned":
        """Return the distribution of scale * Y + shift, in float64; scale > 0 and shift broadcast to (..., 1)."""
        # In float32, prices around 500,000 leave no digits for the borders of narrow bins, and the mass does not sum to
        # 1 closely enough: an error of 1e-7 shifts a mean of 500,000 by 0.05.
        borders, scales = self.borders.double(), self.scales.double()
        return Binned(borders * scale + shift, self.log_mass.double().log_softmax(-1), scales * scale, self.tail)

    def log_density(self, y: Tensor) -> Tensor:
        """Return the log density, in nats per unit of the target, at y (..., k): k values per query. Shape (..., k)."""
        y = y.to(self.borders)
        place = torch.searchsorted(self.borders.contiguous(), y.contiguous())
        log_mass = self.log_mass.gather(-1, place)
        widths = self.borders.diff(dim=-1)
        inside = widths.log().gather(-1, (place - 1).clamp(0, widths.shape[-1] - 1))
        left = self._tail(self.borders[..., :1] - y, self.scales[..., :1])
        right = self._tail(y - self.borders[..., -1:], self.scales[..., 1:])
        last = self.borders.shape[-1]
        return log_mass + torch.where(place == 0, left, torch.where(place == last, right, -inside))

    def _tail(self, beyond: Tensor, scale: Tensor) -> Tensor:
        """Log density of a tail of mass 1 at a distance beyond its border."""
        z = beyond.clamp(min=0) / scale
        if self.tail == "exponential":
            return -z - scale.log()
        return 0.5 * math.log(2 / math.pi) - scale.log() - z.square() / 2

    def mean(self) -> Tensor:
        """Expectation (...), tails included, in the target's unit."""
        mass = self.log_mass.exp()
        centres = (self.borders[..., 1:] + self.borders[..., :-1]) / 2
        far = self.scales * (1.0 if self.tail == "exponential" else math.sqrt(2 / math.pi))
        ends = mass[..., 0] * (self.borders[..., 0] - far[..., 0]) + mass[..., -1] * (
            self.borders[..., -1] + far[..., 1]
        )
        return (mass[..., 1:-1] * centres).sum(-1) + ends

    def entropy(self) -> Tensor:
        """Differential entropy (...), in nats."""
        mass = self.log_mass.exp()
        own = 1.0 if self.tail == "exponential" else 0.5 + 0.5 * math.log(math.pi / 2)
        sizes = torch.cat(
            [
                self.scales[..., :1].log() + own,
                self.borders.diff(dim=-1).log(),
                self.scales[..., 1:].log() + own,
            ],
            -1,
        )
        # 0 log 0 = 0.
        return torch.where(mass > 0, mass * (sizes - self.log_mass), 0).sum(-1)
