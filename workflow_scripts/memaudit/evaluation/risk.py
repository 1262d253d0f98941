"""Who leaks, and what foretells it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logit
from scipy.stats import rankdata

from memaudit.evaluation import bootstrap, intervals, roc
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

    95 % percentile bootstrap over units (groups), the exposures held; two-sided p-value from permuted predictors of one
    record of each unit, for copies are no further evidence. Records without the predictor (NaN) are left out; all is
    NaN where one of the two is constant, or fewer than 3 records are left.
    """
    kept = ~np.isnan(predictor)
    a, b = exposure[kept], predictor[kept]
    groups = (np.arange(len(predictor)) if groups is None else groups)[kept]
    method = f"bootstrap over units, {replicates} replicates, exposures held; null: {replicates} permuted predictors"
    observed = _spearman(a, b) if len(a) > 2 else np.nan
    if np.isnan(observed):
        return Estimate("spearman", np.nan, np.nan, np.nan, len(a), method, 0.0)
    drawn = bootstrap.two_way_weights(1, len(a), replicates, rng, groups).records.astype(int)
    ends = bootstrap.interval(np.array([_spearman(np.repeat(a, times), np.repeat(b, times)) for times in drawn]))
    one = np.unique(groups, return_index=True)[1]
    null = _permuted(a[one], b[one], replicates, rng)
    return _tested(Estimate("spearman", observed, *ends, len(a), method, 0.0), null)


def _permuted(a: Array, b: Array, permutations: int, rng: np.random.Generator) -> Array:
    """Rank correlations (permutation,) of a with permuted b; NaN where one is constant."""
    ranks = rankdata(a), rankdata(b)
    return np.array([_pearson(ranks[0], rng.permutation(ranks[1])) for _ in range(permutations)])


def _tested(found: Estimate, null: Array) -> Estimate:
    """The correlation with its two-sided p-value among those of a permutation null."""
    # The sum of one order's products may differ from another's in the last digit.
    as_far = np.abs(null) >= abs(found.estimate) - roc.ROUNDING
    p_value = (1 + np.count_nonzero(as_far)) / (len(null) + 1)
    detected = bool(p_value <= SIGNIFICANT and (found.low > 0 or found.high < 0))
    low, high = bootstrap.interval(null)
    return replace(found, null_low=low, null_high=high, p_value=float(p_value), detected=detected)


def _spearman(a: Array, b: Array) -> float:
    return _pearson(rankdata(a), rankdata(b))


def _pearson(a: Array, b: Array) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def correlation_over_variants(
    features: Sequence[int], aucs: Array, rng: np.random.Generator, permutations: int = 999
) -> Estimate:
    """Spearman correlation of the AUC with the number of features over variants (TabPATE, Figure 2), (variant,) each.

    Interval: Fisher's z of so many points; two-sided p-value from permuted numbers. The noise of each AUC is in how far
    the points lie from one order. A bootstrap of the variants would leave out 0 in 29 % of the draws of 3 unrelated
    ones, and in 13 % of 7. NaN where all have one number, or one AUC.
    """
    observed = _spearman(np.asarray(features), aucs)
    method = f"Fisher's z of {len(aucs)} variants of one table; null: {permutations} permuted numbers"
    ends = intervals.spearman(observed, len(aucs))
    found = Estimate("spearman features", observed, *ends, len(aucs), method, 0.0)
    return found if np.isnan(observed) else _tested(found, _permuted(np.asarray(features), aucs, permutations, rng))


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
