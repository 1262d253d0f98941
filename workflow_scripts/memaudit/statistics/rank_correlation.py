"""Spearman rank correlations with intervals and permutation p-values, and ranks as shares."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from memaudit.common.arrays import Array, Codes
from memaudit.statistics import bootstrap, intervals, roc
from memaudit.statistics.attack_performance import SIGNIFICANT, Estimate

FEWEST_UNITS = 8  # below which a correlation over records has no interval


def rank_shares(values: Array) -> Array:
    """Rank of each value divided by their number, in (0, 1]; ties share their mean rank. values: (record,)."""
    return rankdata(values) / len(values)


def rank_correlation(
    outcome: Array, predictor: Array, rng: np.random.Generator, groups: Codes | None = None, replicates: int = 200
) -> Estimate:
    """Spearman correlation of an outcome, such as the vulnerability score, with a predictor, both (record,).

    Interval: 95 % bootstrap over units (groups) with the outcomes fixed, widened as Student's t; Fisher's z with one
    point per unit (`intervals.spearman`) for a perfect order, which every resample repeats; NaN for fewer than 8 units,
    since of 5 that are strongly correlated it covers in 85 %. Two-sided p-value: the correlation of one record per unit
    among those of permuted predictors: duplicates add no evidence, and the correlation of all records varies more.
    Records without the predictor (NaN) are left out. All is NaN where one of the two is constant, or fewer than 3
    records are left.
    """
    kept = ~np.isnan(predictor)
    a, b = outcome[kept], predictor[kept]
    groups = (np.arange(len(predictor)) if groups is None else groups)[kept]
    method = f"bootstrap over units, {replicates} replicates, outcomes fixed; null: {replicates} permuted predictors"
    observed = spearman(a, b) if len(a) > 2 else np.nan
    if np.isnan(observed):
        return Estimate("spearman", np.nan, np.nan, np.nan, len(a), method, 0.0)
    drawn = bootstrap.two_way_weights(1, len(a), replicates, rng, groups).records.astype(int)
    samples = np.array([spearman(np.repeat(a, times), np.repeat(b, times)) for times in drawn])
    one = np.unique(groups, return_index=True)[1]
    if len(one) < FEWEST_UNITS:
        ends = np.nan, np.nan
    elif abs(observed) > 1 - roc.ROUNDING:
        ends = intervals.spearman(observed, len(one))
        method = f"Fisher's z of {len(one)} units; null: {replicates} permuted predictors"
    else:
        ends = bootstrap.widened(samples, observed, len(one), -1, 1)
    null = _permuted(a[one], b[one], replicates, rng)
    return _tested(Estimate("spearman", observed, *ends, len(a), method, 0.0), null, spearman(a[one], b[one]))


def _permuted(a: Array, b: Array, permutations: int, rng: np.random.Generator) -> Array:
    """Rank correlations (permutation,) of a with permuted b; NaN where one is constant."""
    first, second = (ranks - ranks.mean() for ranks in (rankdata(a), rankdata(b)))
    drawn = rng.permuted(np.tile(second, (permutations, 1)), axis=1)
    norm = np.sqrt((first @ first) * (second @ second))
    return drawn @ first / norm if norm > 0 else np.full(permutations, np.nan)


def _tested(correlation: Estimate, null: Array, permuted: float) -> Estimate:
    """The correlation with the two-sided p-value of `permuted`, that of the points which the null permutes."""
    # Sums of the same products in another order may differ in the last digit.
    as_far = np.abs(null) >= abs(permuted) - roc.ROUNDING
    p_value = np.nan if np.isnan(permuted) else (1 + np.count_nonzero(as_far)) / (len(null) + 1)
    detected = bool(p_value <= SIGNIFICANT and (correlation.low > 0 or correlation.high < 0))
    low, high = bootstrap.interval(null)
    return replace(correlation, null_low=low, null_high=high, p_value=float(p_value), detected=detected)


def spearman(a: Array, b: Array) -> float:
    """Spearman correlation of two arrays, (record,) each; NaN where one is constant."""
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

    Interval: Fisher's z with one point per variant; two-sided p-value from permuted numbers of features. The noise of
    each AUC enters through the scatter of the points. A bootstrap of the variants would exclude 0 in 29 % of the draws
    of 3 unrelated variants, and in 13 % of 7. NaN where all variants have the same number of features, or the same AUC.
    """
    observed = spearman(np.asarray(features), aucs)
    method = f"Fisher's z of {len(aucs)} variants of one table; null: {permutations} permuted numbers"
    ends = intervals.spearman(observed, len(aucs))
    correlation = Estimate("spearman features", observed, *ends, len(aucs), method, 0.0)
    if np.isnan(observed):
        return correlation
    return _tested(correlation, _permuted(np.asarray(features), aucs, permutations, rng), observed)
