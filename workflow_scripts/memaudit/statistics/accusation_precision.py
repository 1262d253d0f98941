"""Precision (positive predictive value) of an attack's positive predictions: on average, and in one deployment.

An audit's precision is a mean over shadow contexts, but one context is deployed. Its precision is predicted from the
spread over contexts, and a record's own false-positive rate from the spread over records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from memaudit.common.arrays import Array, Codes, Indices, Mask
from memaudit.statistics.attack_performance import SIGNIFICANT, Estimate
from memaudit.statistics.bootstrap import LEVEL, effective_units, interval, two_way_weights, widened
from memaudit.statistics.roc import ROUNDING

RATES = np.concatenate([[1e-5], np.geomspace(1e-4, 0.5, 50)])  # false positive rates that a record may have
ITERATIONS = 1000

# Numbers of a TPR's estimate that are turned into those of the precision.
TRANSFORMED = ("estimate", "low", "high", "null_low", "null_high")


def precision(tpr: ArrayLike, fpr: ArrayLike, base_rate: float) -> Array:
    """Share of positive predictions that are members: pi TPR / (pi TPR + (1 - pi) FPR), pi the base rate of members.

    With TPR = FPR it is the base rate. NaN where nobody is accused. Jayaraman et al. 2021 (PETS) call it the positive
    predictive value.
    """
    inside = base_rate * np.asarray(tpr, dtype=np.float64)
    outside = (1 - base_rate) * np.asarray(fpr, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return inside / (inside + outside)


def precision_estimates(
    estimates: Sequence[Estimate], fpr: float, base_rates: Sequence[float]
) -> list[tuple[float, Estimate]]:
    """By base rate: precision at the threshold with false positive rate `fpr`, with its interval and null.

    estimates: of `judge_attack`, with the TPR at this FPR. Without a leak the TPR is the FPR and the precision the base
    rate: that is the null; detection compares the TPR with its redraws. Precision is an increasing function of the TPR
    alone, so the ends of the TPR's percentile interval map to those of the precision.
    """
    (tpr,) = (estimate for estimate in estimates if estimate.metric == f"tpr@{fpr:g}")
    found = []
    for rate in base_rates:
        values = {key: float(precision(getattr(tpr, key), fpr, rate)) for key in TRANSFORMED}
        found.append((rate, replace(tpr, metric="precision", null=rate, **values)))
    return found


@dataclass(frozen=True)
class Accusations:
    """Who is accused at one false positive rate: (model, target) each.

    accused: as one deployment accuses, by the threshold of the other contexts; member: who is in the context.
    """

    accused: Mask
    member: Mask

    @classmethod
    def at(cls, scores: Array, membership: Mask, fpr: float, rng: np.random.Generator) -> Self:
        """Accusations by scores (model, target): an adversary sets the threshold in shadow contexts, then uses it.

        Of the n scores of non-members in other contexts the one of rank fpr (n + 1) is the threshold, the larger of two
        where that is not whole. Ties are broken at random.
        """
        order = np.lexsort((rng.random(scores.size), scores.ravel()))
        ranks = np.empty(scores.size, np.int64)
        ranks[order] = np.arange(scores.size)
        ranks = ranks.reshape(scores.shape)
        model, _ = np.nonzero(~membership)
        outside = ranks[~membership]
        falling = np.argsort(-outside)
        outside, model = outside[falling], model[falling]
        accused = np.empty(scores.shape, np.bool_)
        for context, of_context in enumerate(ranks):
            others = outside[model != context]
            place = int(fpr * (len(others) + 1) + ROUNDING)
            accused[context] = of_context > (others[place - 1] if place else scores.size)
        return cls(accused, membership)

    def rates(self) -> tuple[Array, Array]:
        """TPR and FPR of each context, (model,) each."""
        right, wrong = (self.accused & self.member).sum(1), (self.accused & ~self.member).sum(1)
        return right / self.member.sum(1), wrong / (~self.member).sum(1)

    def in_one_context(self, base_rate: float) -> Estimate:
        """Median precision over contexts, with the range that holds the precision of one more context with 95 %.

        Fewer than 39 contexts give less (`predictive_level`). Contexts without an accusation have no precision; n
        counts the others.
        """
        values = precision(*self.rates(), base_rate)
        values = values[~np.isnan(values)]
        ends = interval(values) if len(values) > 1 else (np.nan, np.nan)
        middle = float(np.median(values)) if len(values) else np.nan
        method = (
            f"predictive range over contexts, level {predictive_level(len(values)):.3f}; {len(self.member)} contexts"
        )
        return Estimate("precision in one context", middle, *ends, len(values), method, base_rate)

    def above_twice_nominal(self, fpr: float, rng: np.random.Generator, replicates: int, groups: Codes) -> Estimate:
        """Share of targets whose own false positive rate is above 2 `fpr`, with its bootstrap interval over groups.

        A target's few accusations as a non-member are mostly chance: one in 16 contexts is 6 %. So the distribution of
        the rates over targets is estimated from all counts (`_shares_above`). Where the counts scatter no more than one
        rate for all explains (dispersion test, p > .05), the interval begins at 0. Coverage:
        docs/coverage.md; the estimate is too high at 32 contexts.
        """
        wrong, outside = (self.accused & ~self.member).sum(0), (~self.member).sum(0)
        pairs, kind = np.unique(np.column_stack([wrong, outside]), axis=0, return_inverse=True)
        weights = two_way_weights(1, len(wrong), replicates, rng, groups).records
        counts = np.array([np.bincount(kind.ravel(), weight, len(pairs)) for weight in (np.ones(len(wrong)), *weights)])
        observed, *samples = _shares_above(pairs, counts, 2 * fpr)
        low, high = widened(np.array(samples), observed, effective_units(groups), 0, 1)
        expected = outside * wrong.sum() / outside.sum()
        dispersion = float(((wrong - expected) ** 2)[expected > 0].sum() / expected[expected > 0].mean())
        low = low if chi2.sf(dispersion, max(len(wrong) - 1, 1)) <= SIGNIFICANT else 0.0
        method = f"mixture of binomials, bootstrap over units, {replicates} replicates"
        return Estimate("own fpr above twice the nominal", observed, low, high, len(wrong), method, 0.0)


def predictive_level(contexts: int) -> float:
    """Probability that one more context falls into the predictive range of so many exchangeable ones: at most 95 %.

    From the least to the largest of n it is (n - 1) / (n + 1).
    """
    return float(np.clip((contexts - 1) / (contexts + 1), 0, LEVEL))


def _shares_above(pairs: Indices, counts: Array, bound: float) -> Array:
    """Share of the rates above `bound` in each replicate, (replicate,): mixture of binomials on a grid of rates, by EM.

    pairs: (kind, 2) hits and trials; counts: (replicate, kind) targets of each kind. Nonparametric maximum likelihood
    (Laird 1978), from equal weights.
    """
    hits, trials = pairs.T
    likelihood = RATES ** hits[:, None] * (1 - RATES) ** (trials - hits)[:, None]
    shares = counts / counts.sum(1, keepdims=True)
    weights = np.full((len(counts), len(RATES)), 1 / len(RATES))
    for _ in range(ITERATIONS):
        weights *= (shares / (weights @ likelihood.T)) @ likelihood
    return weights[:, bound < RATES].sum(1)
