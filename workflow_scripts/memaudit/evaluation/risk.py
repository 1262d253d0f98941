"""Who leaks, and what foretells it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logit
from scipy.stats import rankdata

from memaudit.evaluation import bootstrap
from memaudit.evaluation.finite_population import gap_statistics
from memaudit.evaluation.judge import SIGNIFICANT, Estimate

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.integer]

LEAST_SIGMA = 1e-12  # as in calibration.gaussian
BLOCK = 512  # records whose distances to all others are in memory at once


def effect_sizes(signals: Array, design: Mask, rng: np.random.Generator, replicates: int = 200) -> Array:
    """Exposure of every record: d = (mean IN - mean OUT) / pooled standard deviation, with its interval, (record, 3).

    signals, design: (model, record). Unlike the gap in OUT deviations (reliability.signed_gap) it does not hinge on the
    side that varies less. Columns: d, and the 95 % percentile bootstrap interval over the models, NaN where fewer than
    half of the resamples keep a model on either side. Raises AuditError where a side has fewer than 2 models.
    """
    gap, inside = gap_statistics(signals, design), design.sum(0)
    squares = (inside - 1) * gap.sigma_in**2 + (len(design) - inside - 1) * gap.sigma_out**2
    observed = gap.delta / np.maximum(np.sqrt(squares / (len(design) - 2)), LEAST_SIGMA)

    drawn = bootstrap.two_way_weights(len(design), 1, replicates, rng).models
    with np.errstate(invalid="ignore", divide="ignore"):
        (shift_in, squares_in), (shift_out, squares_out) = (
            _resampled(signals, side, drawn) for side in (design, ~design)
        )
        sigma = np.maximum(np.sqrt((squares_in + squares_out) / (len(design) - 2)), LEAST_SIGMA)
        samples = (gap.delta + shift_in - shift_out) / sigma
    return np.column_stack([observed, [bootstrap.interval(sample) for sample in samples.T]])


def _resampled(signals: Array, side: Mask, drawn: Array) -> tuple[Array, Array]:
    """How far the mean of one side moves in each resample, and the sum of squares around it: (replicate, record)."""
    # Around the side's own mean: of signals of 20 nats with a spread of 1e-6 the squares would hold nothing.
    deviation = np.where(side, signals - (signals * side).sum(0) / side.sum(0), 0.0)
    count = drawn @ side
    shift = drawn @ deviation / count
    return shift, np.maximum(drawn @ deviation**2 - count * shift**2, 0.0)


def standardised(x: Array, categorical: Mask, reference: Mask) -> Array:
    """Records as points whose distances compare columns, (record, dimension).

    x: (record, column), NaN where missing; categorical: (column,) whose numbers are codes; reference: (record,) the
    records that give means and deviations. Numbers in reference deviations; categories one-hot with weight 1/sqrt(2),
    so that two of them lie 1 apart; what is missing is at the reference mean.
    """
    parts = [_one_hot(values) if kind else values[:, None] for values, kind in zip(x.T, categorical, strict=True)]
    codes = np.repeat(categorical, [part.shape[1] for part in parts])
    space = np.column_stack(parts).astype(np.float64)
    known = np.isfinite(space) & reference[:, None]
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, space, 0.0).sum(0) / count
    sigma = np.sqrt(np.where(known, (space - mean) ** 2, 0.0).sum(0) / count)
    scale = np.where(codes, np.sqrt(2), np.where(sigma > 0, sigma, 1.0))
    return np.nan_to_num((space - mean) / scale)


def _one_hot(values: Array) -> Array:
    found = np.unique(values[np.isfinite(values)])
    return np.where(np.isnan(values)[:, None], np.nan, values[:, None] == found)


def neighbour_distances(space: Array, labels: Codes, units: Codes, neighbours: int) -> dict[str, Array]:
    """Mean distance of every record to its nearest `neighbours`: "all", of its "own class", of the "other classes".

    space: (record, dimension); labels, units: (record,). A record's unit is not its neighbour. Of fewer records than
    asked the mean is over those there are, NaN where there is none. Arrays (record,).
    """
    blocks = []
    for block in np.array_split(np.arange(len(space)), -(-len(space) // BLOCK)):
        distance = cdist(space[block], space)
        distance[units[block][:, None] == units] = np.inf
        own = labels[block][:, None] == labels
        allowed = {"all": np.ones_like(own), "own class": own, "other classes": ~own}
        blocks.append({name: _nearest(np.where(side, distance, np.inf), neighbours) for name, side in allowed.items()})
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _nearest(distance: Array, neighbours: int) -> Array:
    nearest = np.sort(np.partition(distance, min(neighbours, distance.shape[1]) - 1)[:, :neighbours])
    found = np.isfinite(nearest)
    with np.errstate(invalid="ignore"):
        return np.where(found, nearest, 0.0).sum(1) / found.sum(1)


def rank_correlation(
    exposure: Array, predictor: Array, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> Estimate:
    """Spearman correlation of records' exposure with what might foretell it, both (record,).

    95 % percentile bootstrap over units (groups), the exposures held; two-sided p-value from permuted predictors.
    Records without the predictor (NaN) are left out; all is NaN where one of the two is constant.
    """
    kept = ~np.isnan(predictor)
    a, b, groups = exposure[kept], predictor[kept], None if groups is None else groups[kept]
    observed = _spearman(a, b)
    drawn = bootstrap.two_way_weights(1, len(a), replicates, rng, groups).records.astype(int)
    samples = [_spearman(np.repeat(a, times), np.repeat(b, times)) for times in drawn]
    low, high = bootstrap.interval(np.array(samples))
    ranks = rankdata(a), rankdata(b)
    null = np.array([_pearson(ranks[0], rng.permutation(ranks[1])) for _ in range(replicates)])
    method = f"bootstrap over units, {replicates} replicates, exposures held; null: {replicates} permuted predictors"
    if np.isnan(observed):
        return Estimate("spearman", observed, low, high, len(a), method, 0.0)
    p_value = (1 + np.count_nonzero(np.abs(null) >= abs(observed))) / (replicates + 1)
    detected = bool(p_value <= SIGNIFICANT and (low > 0 or high < 0))
    ends = bootstrap.interval(null)
    return Estimate("spearman", observed, low, high, len(a), method, float(null.mean()), *ends, p_value, detected)


def _spearman(a: Array, b: Array) -> float:
    return _pearson(rankdata(a), rankdata(b))


def _pearson(a: Array, b: Array) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def correlation_over_variants(
    features: Sequence[int], aucs: Array, samples: Array, rng: np.random.Generator
) -> list[Estimate]:
    """Correlation of the AUC with the number of features over variants (TabPATE, Figure 2): Spearman, and Pearson of
    log2 of the number.

    features, aucs: (variant,); samples: (replicate, variant), AUCs of the two-way bootstrap with common weights. Each
    replicate draws the variants anew too: with the records and the contexts of one table it holds which of its columns
    there are. A replicate that drew one number of features alone is undefined.
    """
    numbers = np.log2(features)
    drawn = rng.integers(len(numbers), size=samples.shape)
    method = f"bootstrap of variants, contexts and records, {len(samples)} replicates; one table"
    estimates = []
    for name, correlation in (("spearman features", _spearman), ("pearson log2 features", _pearson)):
        replicates = [correlation(numbers[chosen], row[chosen]) for chosen, row in zip(drawn, samples, strict=True)]
        ends = bootstrap.interval(np.array(replicates))
        estimates.append(Estimate(name, correlation(numbers, aucs), *ends, len(numbers), method, 0.0))
    return estimates


def rounded_confidence(probabilities: Array, decimals: int) -> Array:
    """Logit of the true label's probability after rounding, in units of the step that rounding takes at each record.

    probabilities: (model, record); held in [r/2, 1 - r/2] with r = 10^-decimals, so that no signal is infinite. The
    likelihood ratio of a record does not depend on its unit, but a floor of sigma does: in steps it is
    calibration.lira.resolution_floor(1) for all, what rounding alone gives. The step is the mean over the models, in or
    out: it knows no membership. Where rounding leaves one value, the signal is 0.
    """
    unit = 10.0**-decimals

    def signal(p: Array) -> Array:
        return logit(np.clip(p, unit / 2, 1 - unit / 2))

    rounded = np.round(probabilities, decimals)
    below, above = np.maximum(rounded - unit, 0.0), np.minimum(rounded + unit, 1.0)
    steps = (signal(above) - signal(below)) / np.maximum(np.round((above - below) / unit), 1)
    step = steps.mean(0)
    return np.divide(signal(rounded), step, out=np.zeros_like(rounded), where=step > 0)


def layer_size(layer: float, members: int) -> int:
    """Records in the layer of the most exposed (the privacy onion, Carlini et al. 2022b)."""
    return int(np.ceil(layer * members))
