"""AUC within each of several models that share records, its mean over models, intervals, and its permutation null.

An attacker of one model ranks the records of that model, so the AUC is of each model's own scores. Models are trained
on one record of each matched pair, by a coin; models 2 k and 2 k + 1 have opposite coins. The null draws these coins
again, for both models alike, and scores again: a score of shadow models (LiRA) uses the memberships of other models.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.bootstrap import Weights

Score = Callable[[Array, Mask], Array]
PERMUTED_ENTRIES = 1 << 22  # (permutation, model, record) entries that are scored at once


def within_model_auc(scores: Array, member: Mask) -> Array:
    """AUC (...,) of scores (..., record) for the memberships (..., record), ties counted half; both are broadcast."""
    inside = member.sum(-1)
    ranks = (rankdata(scores, axis=-1) * member).sum(-1)
    return (ranks - inside * (inside + 1) / 2) / (inside * (member.shape[-1] - inside))


def auc_replicates(scores: Array, member: Mask, weights: Weights) -> Array:
    """Mean AUC within models of each replicate (replicate,); scores, member: (model, record).

    Each model's AUC weighs its pairs of records by the product of their weights, the mean the models by theirs. A
    replicate that draws no record of one class in a model leaves that model out.
    """
    total, used = np.zeros((2, len(weights.models)))
    for at, (values, inside) in enumerate(zip(scores, member, strict=True)):
        own, other = values[inside, None], values[None, ~inside]
        order = (own > other) + 0.5 * (own == other)
        drawn, others = weights.records[:, inside], weights.records[:, ~inside]
        pairs = drawn.sum(1) * others.sum(1)
        areas = np.divide(((drawn @ order) * others).sum(1), pairs, out=np.zeros(len(pairs)), where=pairs > 0)
        total += weights.models[:, at] * areas
        used += weights.models[:, at] * (pairs > 0)
    return total / used


def model_pair_weights(models: int, pair: NDArray[np.integer], replicates: int, rng: np.random.Generator) -> Weights:
    """Two-way bootstrap weights; models 2 k and 2 k + 1, and the records of a pair (record,), are drawn together."""
    drawn = bootstrap.two_way_weights(models // 2, len(pair), replicates, rng, pair)
    return Weights(drawn.models.repeat(2, axis=1), drawn.records, drawn.units)


def interval(
    replicates: Array, observed: float, weights: Weights, least: float = 0, most: float = 1
) -> tuple[float, float]:
    """95 % interval of replicates of `model_pair_weights`, widened for the numbers of model pairs and record pairs."""
    of_pairs = Weights(weights.models[:, ::2], weights.records, weights.units)
    return bootstrap.two_way_interval(replicates, observed, of_pairs, least, most)


def permuted_coins(member: Mask, pair: NDArray[np.integer], count: int, rng: np.random.Generator) -> Mask:
    """Memberships (permutation, model, record) with the coins of `member` (model, record) drawn again.

    pair: (record,) number of the record's pair; one record of each is a member. Models 2 k and 2 k + 1 keep opposite
    coins.
    """
    code = np.unique(pair, return_inverse=True)[1]
    swaps = rng.random((count, len(member) // 2, code.max() + 1)) < 0.5
    return member ^ swaps.repeat(2, axis=1)[..., code]


def permuted_scores(score: Score, signals: Array, permuted: Mask) -> Array:
    """Scores (permutation, ...) of signals (model, record) under each membership (permutation, model, record).

    score(signals, membership): of (model, record) arrays whose records do not affect each other; the permutations are
    so many more records. It returns (model, record) or (record,).
    """
    count, models, records = permuted.shape
    step, parts = max(1, PERMUTED_ENTRIES // (models * records)), []
    for start in range(0, count, step):
        some = permuted[start : start + step]
        values = score(np.tile(signals, (1, len(some))), some.transpose(1, 0, 2).reshape(models, -1))
        split = values.reshape(*values.shape[:-1], len(some), records)
        parts.append(np.moveaxis(split, -2, 0))
    return np.concatenate(parts)
