"""Two-way bootstrap: intervals for cells (model, record) that share models and records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t

from memaudit.common.arrays import Array, Mask
from memaudit.statistics.roc import ROUNDING

LEVEL = 0.95
FEWEST_UNITS = 5
MANY = 1000  # units of which a percentile interval needs no widening


@dataclass(frozen=True)
class Weights:
    """How often each replicate drew each model and each record: (replicate, model) and (replicate, record).

    units: effective number of groups of records that are drawn together (`effective_units`); fewest: number of units
    of records, if more than one, below which an estimate has no interval.
    """

    models: Array
    records: Array
    units: float = 0
    fewest: int = FEWEST_UNITS


def two_way_weights(
    models: int, records: int, replicates: int, rng: np.random.Generator, groups: NDArray[np.int64] | None = None
) -> Weights:
    """Multinomial weights of the pigeonhole bootstrap (Owen 2007): cell (m, r) weighs w_m v_r.

    Models and records are drawn anew, cells are not: a model or a record that is unlike the others carries all its
    cells along. Where neither differs from its like (cells independent) the variance is up to 3 times too large: the
    interval errs to the wide side. groups: (record,) the group of every record (near duplicates, one person's rows);
    records of a group are drawn together.
    """
    groups = np.arange(records) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = groups.max() + 1
    return Weights(
        rng.multinomial(models, np.full(models, 1 / models), size=replicates).astype(np.float64),
        rng.multinomial(count, np.full(count, 1 / count), size=replicates)[:, groups].astype(np.float64),
        effective_units(groups),
    )


def effective_units(groups: NDArray[np.int64]) -> float:
    """Number of equally large units whose mean varies as that of these: (sum of sizes)^2 / sum of squares (Kish 1965).

    groups: (record,) unit of every record. Units of one size count as many as they are. Of one unit of half of the
    records and many of one record there are hardly 4.
    """
    sizes = np.unique(groups, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum())


def interval(replicates: Array, level: float = LEVEL) -> tuple[float, float]:
    """95 % percentile interval, or of another level; NaN where fewer than half of the replicates are defined.

    Of n replicates a share of 2.5 % is expected below the value of rank 0.025 (n + 1) (Weibull's quantile). numpy's
    default lets 3 % of 200 replicates be below.
    """
    defined = replicates[~np.isnan(replicates)]
    if 2 * len(defined) < len(replicates):
        return np.nan, np.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2], method="weibull")
    return float(low), float(high)


def widened(
    replicates: Array, observed: float, units: float, least: float = -np.inf, most: float = np.inf
) -> tuple[float, float]:
    """95 % percentile interval of a bootstrap of `units` units, widened about the estimate as Student's t requires.

    least, most: range of the quantity. NaN, no interval, for fewer than 2 units. Where the percentiles are one end of
    the range, as for a share of 0, see `_at_an_end`. Coverage: docs/coverage.md.
    """
    if units > 1 and _is_at_an_end(replicates, observed, least, most):
        return _at_an_end(observed, units, least, most)
    return _stretched(replicates, observed, _narrowness(units), least, most)


def two_way_interval(
    replicates: Array, observed: float, weights: Weights, least: float = -np.inf, most: float = np.inf
) -> tuple[float, float]:
    """`widened` for replicates (replicate,) of two-way weights: each side is widened by its own number of units.

    The share of the replicates' variance that comes from the side with fewer units is that which is linear in their
    weights (adjusted R^2), the rest comes from the other side. Widened variances add up. NaN, no interval, for fewer
    units of records than `weights.fewest`: of 2 to 4 that differ much it covers in less than 93 %. A single one is not
    resampled. Where the percentiles are one end of the range, as for a complete leak, see `_at_an_end`.
    """
    models, units = weights.models.shape[1], weights.units or weights.records.shape[1]
    if 1 < units < weights.fewest:
        return np.nan, np.nan
    (fewer, is_models), (more, _) = sorted([(models, True), (units, False)])
    if _is_at_an_end(replicates, observed, least, most):
        # Members and non-members of a single model are different units: half of them on the side that is at its end.
        return _at_an_end(observed, fewer if fewer > 1 else max(more // 2, 1), least, most)
    if fewer == 1:
        return widened(replicates, observed, more, least, most)
    share = _explained(replicates, weights.models if is_models else np.unique(weights.records, axis=1))
    factor = np.sqrt(share * _narrowness(fewer) ** 2 + (1 - share) * _narrowness(more) ** 2)
    return _stretched(replicates, observed, factor, least, most)


def _is_at_an_end(replicates: Array, observed: float, least: float, most: float) -> bool:
    """Whether the estimate and the whole percentile interval are one end of a finite range."""
    if not (np.isfinite([least, most]).all() and np.isclose(observed, [least, most]).any()):
        return False
    low, high = interval(replicates)
    return high - low < ROUNDING


def _at_an_end(observed: float, count: float, least: float, most: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share that is 0 or 1, where no resample tells how near the end the truth is.

    count: independent trials, one for each unit.
    """
    width = (most - least) * (1 - ((1 - LEVEL) / 2) ** (1 / count))
    return (least, least + width) if np.isclose(observed, least) else (most - width, most)


def _narrowness(units: float) -> float:
    """Factor sqrt(n / (n - 1)) t_{n-1} / z by which a percentile interval of n units is too narrow.

    Hesterberg 2015, Section 3.1 ("narrowness bias"): 1.29 for 8 units, 1.02 for 100, NaN for fewer than 2.
    """
    if units < 2:
        return np.nan
    return float(np.sqrt(units / (units - 1)) * t.ppf((1 + LEVEL) / 2, units - 1) / norm.ppf((1 + LEVEL) / 2))


def _explained(replicates: Array, weights: Array) -> float:
    """Share of the replicates' variance that is linear in the weights (replicate, unit), adjusted R^2 in [0, 1].

    1 where there are too few replicates to tell: then there are many units, and neither side is narrow.
    """
    defined = ~np.isnan(replicates)
    values, drawn = replicates[defined], weights[defined, 1:] - 1
    freedom = len(values) - 1 - drawn.shape[1]
    if freedom < len(values) / 2 or np.ptp(values) == 0:
        return 1.0
    centred, drawn = values - values.mean(), drawn - drawn.mean(0)
    residual = centred - drawn @ np.linalg.lstsq(drawn, centred, rcond=None)[0]
    return float(np.clip(1 - residual @ residual / freedom * (len(values) - 1) / (centred @ centred), 0, 1))


def _stretched(replicates: Array, observed: float, factor: float, least: float, most: float) -> tuple[float, float]:
    low, high = interval(replicates)
    if np.isnan(factor) or np.isnan(low):
        return np.nan, np.nan
    below, above = max(observed - low, 0.0), max(high - observed, 0.0)
    return float(max(observed - factor * below, least)), float(min(observed + factor * above, most))


def quantiles(values: Array, levels: Sequence[float]) -> Array:
    """Quantiles of values (n,) at levels in [0, 1], interpolated linearly; shape (level,)."""
    return np.quantile(values, levels)


def weighted_quantiles(values: Array, weights: Array, levels: Sequence[float]) -> Array:
    """Quantiles of values that stand as often as their weight says, (replicate, level); weights: (replicate, value)."""
    order = np.argsort(values)
    share = np.cumsum(weights[:, order], axis=1) / weights.sum(1, keepdims=True)
    places = np.stack([(share < level).sum(1) for level in levels], axis=1)
    return values[order][np.minimum(places, len(values) - 1)]


def t_interval(values: Array, level: float = LEVEL) -> tuple[float, float]:
    """Student's t interval of the mean of a few independent values, 95 % unless another level is given.

    Of n exponential values Student's t covers the mean in 88 % (n = 3 to 6), 90 % (10) and 93 % (30), and five values
    cannot show that they are skewed. So the half-width is (1 + 2.5/n) times Student's t; the error of its coverage is
    of order 1/n (Hall 1988). That covers 94 to 96 % of exponential and 96 to 98 % of normal means. It does not hold for
    values that are more skewed than exponential ones: of log-normal ones hundreds are needed.
    """
    half = t_half_width(values, level)
    return float(values.mean() - half), float(values.mean() + half)


def t_half_width(values: Array, level: float = LEVEL) -> Array:
    """Half-width (...,) of `t_interval` for values (unit, ...) of at least two units."""
    units = len(values)
    return for_skewed(units) * t.ppf((1 + level) / 2, units - 1) * values.std(axis=0, ddof=1) / np.sqrt(units)


def mean_interval(
    values: Array,
    replicates: int,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
    least: float = -np.inf,
    most: float = np.inf,
) -> tuple[float, float]:
    """95 % bootstrap interval of the mean over records, (record,); groups: records that are resampled together.

    least, most: range of the quantity. Widened as Student's t, and for skewed values as `t_interval`. NaN for a single
    unit.
    """
    weights = two_way_weights(1, len(values), replicates, rng, groups).records
    units = len(values) if groups is None else effective_units(groups)
    replicates_of_mean, observed = weights @ values / weights.sum(1), float(values.mean())
    if units > 1 and _is_at_an_end(replicates_of_mean, observed, least, most):
        return _at_an_end(observed, units, least, most)
    return _stretched(replicates_of_mean, observed, for_skewed(units) * _narrowness(units), least, most)


def for_skewed(units: ArrayLike) -> Array:
    """Factor by which an interval of a mean must be wider for values as skewed as exponential ones."""
    return 1 + 2.5 / np.asarray(units)


def mean_of_units(
    observed: Array, samples: Array, weights: Array, least: float = -np.inf, most: float = np.inf
) -> tuple[float, float]:
    """95 % interval of the mean of a few units (unit,), such as splits, that have replicates of their own.

    samples: (unit, replicate); weights: (replicate, unit), how often each replicate drew each unit. Only what the
    choice of units adds is widened; the records behind the replicates are taken to be many.
    """
    means = (weights.T * samples).sum(0) / weights.sum(1)
    return two_way_interval(means, float(observed.mean()), Weights(weights, weights, MANY), least, most)


def rate(hits: Mask, base: Mask, weights: Weights, *, per_record: bool = False) -> Array:
    """Replicates of the share of `base` cells that are hits, both (record, model): pooled, or a mean over records."""
    if not per_record:
        return weighted_sum(hits.T, weights) / weighted_sum(base.T, weights)
    with np.errstate(invalid="ignore"):
        rates = (weights.models @ hits.T) / (weights.models @ base.T)
    return mean_over_records(rates, weights)


def entry_weights(entries: NDArray[np.intp], weights: Weights) -> Iterator[Array]:
    """Weights of these entries in each replicate, (entry,); entries: places in the flattened (model, record)."""
    model, record = np.divmod(entries, weights.records.shape[1])
    return (m[model] * r[record] for m, r in zip(weights.models, weights.records, strict=True))


def weighted_sum(cells: NDArray, weights: Weights) -> Array:
    """Weighted sum of cells (model, record) in each replicate, (replicate,)."""
    return ((weights.models @ cells) * weights.records).sum(1)


def mean_over_records(rates: Array, weights: Weights) -> Array:
    """Mean over records of the rates that are defined, (replicate, record), in each replicate: (replicate,)."""
    defined = weights.records * ~np.isnan(rates)
    return (np.nan_to_num(rates) * defined).sum(1) / defined.sum(1)
