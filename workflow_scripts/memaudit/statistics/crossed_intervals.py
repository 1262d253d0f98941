"""Intervals of means and contrasts of values that share models and corpora, two crossed random factors.

The variance is that of a crossed random-effects model, with Student's t of Satterthwaite's degrees of freedom (Searle,
Casella and McCulloch 1992, Chapter 5): for a balanced grid of m models and c corpora (MS_model + MS_corpus -
MS_residual) / (m c), at least MS_model / (m c) and MS_corpus / (m c). The bootstrap of single combinations covers the
mean in 64 to 93 % there; the pigeonhole bootstrap counts the residual three times. Coverage: docs/coverage.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL

FEWEST = 3  # levels of a factor that are resampled; fewer are taken as given
FEW = 4  # levels below which the method says that they are few
LARGEST = 1000.0  # ratio, where the denominator is 0 or nearly so


@dataclass(frozen=True)
class Spread:
    """Variances (...,) and Satterthwaite's degrees of freedom (...,)."""

    variance: Array
    freedom: Array

    def __add__(self, other: "Spread") -> "Spread":
        variance = self.variance + other.variance
        parts = self.variance**2 / self.freedom + other.variance**2 / other.freedom
        return Spread(variance, np.divide(variance**2, parts, out=np.full_like(parts, np.inf), where=parts > 0))


@dataclass(frozen=True)
class CrossedGrid:
    """Weights (entry,) of values in a mean or contrast, and the factors that the values share.

    factors: levels (entry,) of each factor by its plural name, such as models and corpora; groups: (entry,) group of
    each value, of which each has a mean of its own: two groups of a contrast.
    """

    weights: Array
    factors: dict[str, NDArray]
    groups: NDArray[np.int64]
    given: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = tuple(name for name in self.factors if self._freedom(name) < FEWEST - 1)
        object.__setattr__(self, "given", given)

    @classmethod
    def of_mean(cls, weights: Array, **factors: NDArray) -> "CrossedGrid":
        """The grid of one weighted mean."""
        return cls(weights, {name: np.asarray(of) for name, of in factors.items()}, np.zeros(len(weights), int))

    def less(self, other: "CrossedGrid") -> "CrossedGrid":
        """The grid of a mean over this grid less one over the other."""
        factors = {name: np.concatenate([of, other.factors[name]]) for name, of in self.factors.items()}
        groups = np.concatenate([self.groups, other.groups + self.groups.max() + 1])
        return CrossedGrid(np.concatenate([self.weights, -other.weights]), factors, groups)

    def pairs_with(self, other: "CrossedGrid") -> bool:
        """Whether both have the same weights of the same levels, value by value."""
        mine, theirs = ((one.weights, one.groups, *one.factors.values()) for one in (self, other))
        return all(np.array_equal(one, two) for one, two in zip(mine, theirs, strict=True))

    @property
    def resampled(self) -> str:
        """What the interval is about, for its method."""
        drawn = [name for name in self.factors if name not in self.given]
        words = ", ".join(["texts", *(f"{name} ({self._levels(name)}{self._few(name)})" for name in drawn)])
        counts = " and ".join(f"{name} ({self._levels(name)}, too few)" for name in self.given)
        return words + (f", given the {counts}" if counts else "")

    def spread(self, values: Array) -> Spread:
        """Variance of the contrast of values (..., entry) by the factors that are resampled; 0 if none is."""
        values = self._residuals(values)
        parts = [self._of_factor(name, values) for name in self.factors if name not in self.given]
        if not parts:
            return Spread(np.zeros(values.shape[:-1]), np.full(values.shape[:-1], np.inf))
        if len(parts) == 1:
            return parts[0]
        residual, freedom = self._of_residuals(values)
        both = parts[0].variance + parts[1].variance - residual
        square = sum(part.variance**2 / part.freedom for part in parts) + residual**2 / freedom
        best = Spread(both, np.divide(both**2, square, out=np.full_like(both, np.inf), where=square > 0))
        for part in parts:
            larger = part.variance > best.variance
            best = Spread(*(np.where(larger, getattr(part, name), getattr(best, name)) for name in vars(part)))
        return best

    def _residuals(self, values: Array) -> Array:
        """Values less the weighted mean of their group."""
        residuals = np.array(values, dtype=np.float64)
        for group in np.unique(self.groups):
            own = self.groups == group
            mean = residuals[..., own] @ self.weights[own] / self.weights[own].sum()
            residuals[..., own] -= mean[..., None]
        return residuals

    def _sets(self, name: str) -> list[NDArray[np.int64]]:
        """Groups that share levels of a factor, set by set."""
        sets: list[tuple[list[int], set]] = []
        for group in np.unique(self.groups):
            levels = set(self.factors[name][self.groups == group])
            joined = [one for one in sets if one[1] & levels]
            members = [number for one in joined for number in one[0]] + [int(group)]
            sets = [one for one in sets if one not in joined] + [(members, levels.union(*(one[1] for one in joined)))]
        return [np.array(members) for members, _ in sets]

    def _shares(self, name: str, groups: NDArray[np.int64]) -> tuple[NDArray, Array]:
        """Levels of a set of groups, and their shares of its absolute weight."""
        own = np.isin(self.groups, groups)
        levels, places = np.unique(self.factors[name][own], return_inverse=True)
        shares = np.bincount(places, np.abs(self.weights[own]))
        return levels, shares / shares.sum()

    def _levels(self, name: str) -> int:
        return len(np.unique(self.factors[name]))

    def _few(self, name: str) -> str:
        return f", fewer than {FEW}" if self._levels(name) < FEW else ""

    def _freedom(self, name: str) -> int:
        return sum(len(self._shares(name, groups)[0]) - 1 for groups in self._sets(name))

    def _of_factor(self, name: str, residuals: Array) -> Spread:
        """Variance by the sums of weighted residuals of each level; a single level has the variance of the others."""
        total, square, known, single = np.zeros(residuals.shape[:-1]), np.zeros(residuals.shape[:-1]), 0.0, 0.0
        for groups in self._sets(name):
            levels, shares = self._shares(name, groups)
            size = np.abs(self.weights[np.isin(self.groups, groups)]).sum()
            effective = (shares**2).sum()
            if len(levels) == 1:
                single += size**2
                continue
            inside = np.isin(self.groups, groups)
            sums = (residuals * self.weights * inside) @ (self.factors[name][:, None] == levels)
            # What a weighted mean of independent values leaves of their sum of squares; 1 - 1 / n for equal weights.
            left = effective - 2 * (shares**3).sum() + effective**2
            variance = (sums**2).sum(-1) * effective / left
            known += size**2 * effective
            total, square = total + variance, square + variance**2 / (1 / effective - 1)
        freedom = np.divide(total**2, square, out=np.full_like(total, self._freedom(name)), where=square > 0)
        return Spread(total * (1 + single / known), freedom)

    def _of_residuals(self, residuals: Array) -> tuple[Array, int]:
        """Variance of the contrast if values were independent, from what no level of a factor explains."""
        squares, freedom = np.zeros(residuals.shape[:-1]), 0
        for group in np.unique(self.groups):
            own = self.groups == group
            columns = [of[own][:, None] == np.unique(of[own]) for of in self.factors.values()]
            design = np.hstack([np.ones((own.sum(), 1)), *columns]).astype(np.float64)
            left = residuals[..., own] - residuals[..., own] @ (design @ np.linalg.pinv(design)).T
            squares = squares + (left**2).sum(-1)
            freedom += int(own.sum() - np.linalg.matrix_rank(design))
        if not freedom:
            return np.zeros_like(squares), 1
        return squares / freedom * (self.weights**2).sum(), freedom


@dataclass(frozen=True)
class Crossed:
    """A weighted mean or contrast of values (entry,) with replicates (entry, replicate) of their texts.

    A ratio of means has the values of its logarithm, to first order. texts: their number. repeats: None, or (repeat,)
    the quantity without each of several classifier seeds or draws, for their jackknife.
    """

    observed: float
    values: Array
    samples: Array
    grid: CrossedGrid
    texts: int
    repeats: Array | None = None

    @classmethod
    def mean(
        cls, values: Array, samples: Array, grid: CrossedGrid, texts: int, repeats: Array | None = None
    ) -> "Crossed":
        """The mean of values; repeats: (repeat, entry) the values without each repeat."""
        left_out = None if repeats is None else repeats @ grid.weights
        return cls(float(grid.weights @ values), values, samples, grid, texts, left_out)

    def __sub__(self, other: "Crossed") -> "Crossed":
        """The difference: of the values if both have the same grid, of means over different entries otherwise."""
        observed, repeats = self.observed - other.observed, _repeats(self, other)
        texts = min(self.texts, other.texts)
        if self.grid.pairs_with(other.grid):
            values, samples = self.values - other.values, self.samples - other.samples
            return Crossed(observed, values, samples, self.grid, texts, repeats)
        both = (np.concatenate([self.values, other.values]), np.concatenate([self.samples, other.samples]))
        return Crossed(observed, *both, self.grid.less(other.grid), texts, repeats)

    def logarithm(self) -> "Crossed":
        """The logarithm of a mean, to first order: a ratio's is a difference of two. -inf for 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            repeats = None if self.repeats is None else np.log(self.repeats)
            parts = (self.values / self.observed, self.samples / self.observed)
            return Crossed(float(np.log(self.observed)), *parts, self.grid, self.texts, repeats)

    def interval(self, least: float = -np.inf, most: float = np.inf, level: float = LEVEL) -> tuple[float, float]:
        """Interval within the quantity's range, for what `grid.resampled` names; NaN where it is not finite.

        Noise of texts that the spread over models and corpora shows is not counted again.
        """
        if not (np.isfinite(self.observed) and np.isfinite(self.values).all()):
            return np.nan, np.nan
        deviations = (self.samples - self.samples.mean(1, keepdims=True)).T
        seen = self.grid.spread(deviations).variance.mean()
        rest = max(0.0, (deviations @ self.grid.weights).var(ddof=1) - seen)
        spread = self.grid.spread(self.values) + Spread(np.array(rest), np.array(max(self.texts - 1, 1)))
        if self.repeats is not None:
            count = len(self.repeats)
            spread += Spread(np.array((count - 1) * self.repeats.var()), np.array(max(count - 1, 1)))
        half = t.ppf((1 + level) / 2, np.maximum(spread.freedom, 1)) * np.sqrt(spread.variance)
        return float(max(self.observed - half, least)), float(min(self.observed + half, most))

    def ratio(self) -> tuple[float, float, float]:
        """A ratio and its interval, from its logarithm; at most LARGEST, and no interval of one with a rate of 0."""
        ends = self.interval()
        return tuple(float(np.minimum(np.exp(end), LARGEST)) for end in (self.observed, *ends))

    @property
    def method(self) -> str:
        """How the interval was made."""
        seeds = "" if self.repeats is None else f", classifier seeds or draws ({len(self.repeats)})"
        return f"crossed random effects over {self.grid.resampled}{seeds}; {self.samples.shape[1]} replicates of texts"


def _repeats(one: Crossed, other: Crossed) -> Array | None:
    """The difference without each repeat, of the two that have repeats."""
    of = [part.repeats for part in (one, other)]
    if of[0] is not None and of[1] is not None and len(of[0]) != len(of[1]):
        raise ValueError(f"{len(of[0])} and {len(of[1])} repeats cannot be paired")
    if of[0] is None and of[1] is None:
        return None
    return (one.observed if of[0] is None else of[0]) - (other.observed if of[1] is None else of[1])


def smallest(parts: Sequence[Crossed]) -> tuple[int, float, float]:
    """Which of several quantities is observed to be the smallest, and a 95 % interval of the smallest true one.

    The lower end is the smallest of their own lower ends, each of which errs with 2.5 %; the upper one is the smallest
    of the upper ends with Bonferroni's correction, of which none errs with more than 2.5 % in all. So the interval
    holds although the data choose the quantity.
    """
    corrected = 1 - (1 - LEVEL) / len(parts)
    low = np.min([part.interval()[0] for part in parts])
    high = np.min([part.interval(level=corrected)[1] for part in parts])
    return int(np.argmin([part.observed for part in parts])), float(low), float(high)


def averaged(parts: list[Crossed]) -> Crossed:
    """The mean of several draws of the same quantity; of two and more the spread between draws is counted."""
    grid = parts[0].grid
    factors = {name: np.concatenate([part.grid.factors[name] for part in parts]) for name in grid.factors}
    weights = np.concatenate([part.grid.weights for part in parts]) / len(parts)
    groups = np.concatenate([part.grid.groups for part in parts])
    draws = np.array([part.observed for part in parts])
    left_out = (draws.sum() - draws) / (len(draws) - 1) if len(draws) > 1 else None
    both = (np.concatenate([part.values for part in parts]), np.concatenate([part.samples for part in parts]))
    return Crossed(float(draws.mean()), *both, CrossedGrid(weights, factors, groups), parts[0].texts, left_out)
