"""Thresholds of the aggregation strategies (Jälkö et al. 2026, Section 6.1)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32, Floats, Mask
from memaudit.statistics.student_t import BinnedSquares, exact_threshold, normal_threshold, t_threshold
from memaudit.studies.lira.strategy_scores import StrategyScores

STRATEGIES = {
    "naive": "concatenated log-likelihood ratios, threshold: their empirical OUT quantile",
    "pp": "concatenated post-processed signals, threshold: their empirical OUT quantile",
    "pp_normal": "concatenated post-processed signals, threshold: the normal quantile",
    "pp_t": "concatenated post-processed signals, threshold: Student's t fitted to the OUT values of these models",
    "per_sample": "log-likelihood ratios, threshold: every record's empirical OUT quantile, mean over records",
    "per_sample_crossfit": "as per_sample, fits from the other half of the models, threshold: rank k / (n + 1) of n",
    "per_sample_normal": "post-processed signals, threshold: the normal quantile, mean over records",
    "pp_exact": "post-processed with ddof 1, threshold t_{n-1} sqrt(1 + 1/n) for n OUT shadow models: nothing fitted",
}
ON_RATIO = {"naive", "per_sample"}
MEAN_OVER_RECORDS = {"per_sample", "per_sample_crossfit", "per_sample_normal"}
# Models times FPR that a strategy needs: the rule of the paper's code for per_sample; a rank of at least one of the OUT
# scores of a half, a quarter of all, for the cross-fitted one.
LEAST_MODELS = {"per_sample": 1, "per_sample_crossfit": 4}


def has_models(strategy: str, models: int, fpr: float) -> bool:
    """Whether a strategy has a threshold for each record at this number of models."""
    return models * fpr >= LEAST_MODELS.get(strategy, 0) - 1e-9


def scores_of(scores: StrategyScores, strategy: str) -> Array32:
    """The leave-one-out score that a strategy thresholds, (record, model)."""
    return scores.ratio if strategy in ON_RATIO else scores.standard


def thresholds(scores: StrategyScores, fprs: Sequence[float]) -> dict[tuple[str, float], Array]:
    """Threshold of every strategy but the cross-fitted one and of every FPR, by both.

    (), (record, 1), or (record, 2) where OUT and IN targets have their own.
    """
    models = scores.member.shape[1]
    naive, pooled = pooled_quantiles(scores, "naive", fprs), pooled_quantiles(scores, "pp", fprs)
    freedom = out_freedom(scores)
    shadows = scores.shadows[:, None] - [1, 0]
    of = {}
    for i, fpr in enumerate(fprs):
        of["naive", fpr], of["pp", fpr] = naive[i], pooled[i]
        of["pp_normal", fpr] = of["per_sample_normal", fpr] = np.float64(normal_threshold(fpr))
        of["pp_t", fpr] = np.float64(t_threshold(fpr, freedom))
        # The signals are standardised with ddof 0; the exact threshold is for ddof 1.
        of["pp_exact", fpr] = exact_threshold(fpr, shadows) * np.sqrt(shadows / (shadows - 1))
    enough = [fpr for fpr in fprs if has_models("per_sample", models, fpr)]
    for fpr, column in zip(enough, record_quantiles(scores, enough).T, strict=True):
        of["per_sample", fpr] = column[:, None]
    return of


def pooled_quantiles(scores: StrategyScores, strategy: str, fprs: Sequence[float]) -> Array:
    """The (1 - fpr) quantiles of all OUT scores, linear between neighbours."""
    of_strategy = scores_of(scores, strategy)
    outside = np.empty(scores.member.size - np.count_nonzero(scores.member), np.float32)
    start = 0
    for block in scores.blocks():
        values = of_strategy[block][~scores.member[block]]
        outside[start : (start := start + len(values))] = values
    place = (len(outside) - 1) * (1 - np.asarray(fprs))
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(outside) - 1)
    outside.partition(np.unique([low, high]))
    return _between(outside[low], outside[high], place - low)


def record_quantiles(scores: StrategyScores, fprs: Sequence[float]) -> Array:
    """The (1 - fpr) quantiles of every record's OUT log-likelihood ratios: (record, fpr); NaN without OUT targets."""
    quantiles = np.empty((len(scores.member), len(fprs)))
    for block in scores.blocks():
        # IN entries sort behind all others and are never reached.
        ordered = np.sort(np.where(scores.member[block], np.float32(np.inf), scores.ratio[block]), axis=1)
        count = (~scores.member[block]).sum(1, keepdims=True)
        place = np.maximum(count - 1, 0) * (1 - np.asarray(fprs))
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(count - 1, 0))
        low_value, high_value = np.take_along_axis(ordered, low, 1), np.take_along_axis(ordered, high, 1)
        quantiles[block] = np.where(count > 0, _between(low_value, high_value, place - low), np.nan)
    return quantiles


def out_freedom(scores: StrategyScores) -> float:
    """Degrees of freedom of Student's t (location 0, scale 1) on these models' OUT post-processed signals."""
    squares = BinnedSquares()
    for block in scores.blocks():
        squares.add(scores.standard[block][~scores.member[block]])
    return squares.degrees_of_freedom()


def rank_hits(scores: Floats, member: Mask, fpr: float) -> tuple[Array, Array]:
    """Expected numbers of IN and of OUT scores of each record above the record's own rank threshold, (record,) each.

    scores, member: (record, model). Of n OUT scores and one more score that is exchangeable with them, the latter
    exceeds the k-th largest with probability k / (n + 1). k = fpr (n + 1) is rarely whole: the counts above the k-th
    and the (k + 1)-th are averaged with the weights that give `fpr` exactly, as if the threshold were drawn. An OUT
    score meets the n - 1 others. Ties count as not above. Below one, k allows no threshold and the count is of scores
    above the largest OUT score, times k: exact without a leak, and without power.
    """
    outside = (~member).sum(1)
    falling = -np.sort(np.where(member, np.inf, -scores), axis=1)
    falling = np.hstack([np.full((len(scores), 1), np.inf), falling, np.full((len(scores), 1), -np.inf)])

    def above(rank: Array) -> tuple[Array, Array]:
        """Numbers of IN and OUT scores above the OUT score of this rank, 1 the largest and 0 none."""
        found = scores > np.take_along_axis(falling, np.minimum(rank, outside + 1)[:, None], axis=1)
        inside = (found & member).sum(1)
        return inside, found.sum(1) - inside

    place = fpr * (outside + 1)
    rank = np.floor(place).astype(np.int64)
    in_low, in_high = above(rank)[0], above(rank + 1)[0]
    of_others = fpr * outside
    rank_others = np.floor(of_others).astype(np.int64)
    out_low, out_high = above(rank_others + 1)[1], above(rank_others + 2)[1]
    return _between(in_low, in_high, place - rank), _between(out_low, out_high, of_others - rank_others)


def exceed(scores: Array32, threshold: Array, member: Mask) -> Mask:
    """scores > threshold, strictly, at the pace of float32: x > T is x > the largest float32 not above T."""
    with np.errstate(over="ignore"):
        single = np.asarray(threshold).astype(np.float32)
    single = np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)
    if single.ndim == 2 and single.shape[1] == 2:
        single = np.where(member, single[:, 1:], single[:, :1])
    return scores > single


def _between(low: NDArray, high: NDArray, share: Array) -> Array:
    low = low.astype(np.float64)
    return low + share * (high - low)
