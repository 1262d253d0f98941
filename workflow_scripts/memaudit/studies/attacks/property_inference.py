"""Property inference (Ateniese et al. 2015): which of two shares of a context's records has a property.

The secret is a property of the whole context, not the membership of a record. The adversary draws shadow contexts of
both shares, queries all with the same public records, and learns to tell the two kinds of answers apart.

An interval that resamples the contexts with their scores ignores that the discriminants were fitted on few contexts:
with 32 contexts and 30 records the AUC of noise has a standard deviation of .14, and .10 for 32 independent scores, and
the interval contains 0.5 in 85 % of the draws. The permutation null repeats the whole cross-validation, so the interval
is widened by the ratio of the null's standard deviation to that of independent scores.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import ledoit_wolf
from sklearn.model_selection import StratifiedKFold

from memaudit.common.arrays import Array, Mask
from memaudit.common.progress_bar import steps
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import FPRS, ROC_FPRS, Estimate, judge, roc_band
from memaudit.statistics.randomisation_tests import Null

FOLDS = 8
PROBES = 128  # public records that are queried: the cost of a discriminant grows with the cube of their number


def scores(answers: Array, second_share: Mask, rng: np.random.Generator) -> Array:
    """How much each set's answers speak for the second share, by a discriminant that was fitted without its fold.

    Answers in one context move together, so likelihood ratios must not be added up over records. A linear discriminant
    knows their covariance; with fewer sets than records it is shrunk (Ledoit and Wolf 2004). answers: (model, probe),
    log-odds of the true labels of public records, of which at most 128, drawn at random, are used; second_share:
    (model,), True: the second share. Folds hold equally many of both kinds where the sets do. Returns (model,).
    """
    chosen = np.sort(rng.permutation(answers.shape[1])[:PROBES])
    folds = min(FOLDS, np.count_nonzero(second_share), np.count_nonzero(~second_share))
    split = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    found, answers = np.empty(len(answers)), answers[:, chosen]
    for others, fold in split.split(answers, second_share):
        weights, middle = _discriminant(answers[others], second_share[others])
        found[fold] = (answers[fold] - middle) @ weights
    return found


def permutation_null(
    answers: Array, second_share: Mask, *, permutations: int, rng: np.random.Generator, fprs: Sequence[float] = FPRS
) -> Null:
    """AUC and TPRs of the whole cross-validation when the kinds belong to other sets; arguments as in `scores`."""
    values = []
    for _ in steps(range(permutations), "permuted shares"):
        other = rng.permutation(second_share)
        found = scores(answers, other, rng)
        values.append([roc.auc(found, other), *roc.tpr_at_fpr(found, other, fprs)])
    return Null(tuple(fprs), np.array(values))


def judge_property(
    answers: Array,
    second_share: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    roc_fprs: Array = ROC_FPRS,
    rng: np.random.Generator,
    replicates: int = 200,
    permutations: int = 39,
) -> tuple[list[Estimate], Array]:
    """AUC and TPRs of `scores` with the null of `permutation_null`, and the ROC curve: (fpr, 3), TPR, low, high.

    answers: (model, probe); second_share: (model,). Intervals: bootstrap of the sets, widened about the estimate by the
    ratio of the null AUC's standard deviation to that of independent scores (Mann and Whitney 1947), at least 1.
    """
    null = permutation_null(answers, second_share, permutations=permutations, rng=rng, fprs=fprs)
    sets, second = len(second_share), np.count_nonzero(second_share)
    independent = np.sqrt((sets + 1) / (12 * second * (sets - second)))
    factor = max(float(null.values[:, 0].std(ddof=1) / independent), 1.0)
    cells = scores(answers, second_share, rng)[:, None], second_share[:, None]
    band = roc_band(*cells, roc_fprs, rng=rng, replicates=replicates)
    band[:, 1:] = np.column_stack(_widened(*band.T, factor))
    judged = judge(*cells, fprs=fprs, rng=rng, replicates=replicates, null=null)
    return [_wider(estimate, factor) for estimate in judged], band


def _wider(found: Estimate, factor: float) -> Estimate:
    low, high = map(float, _widened(found.estimate, found.low, found.high, factor))
    method = found.method.replace("two-way bootstrap", f"bootstrap of sets, widened {factor:.2f} times")
    return replace(found, low=low, high=high, method=method, detected=found.detected and low > found.null)


def _widened(estimate: ArrayLike, low: ArrayLike, high: ArrayLike, factor: float) -> tuple[Array, Array]:
    below, above = np.maximum(np.subtract(estimate, low), 0), np.maximum(np.subtract(high, estimate), 0)
    return np.maximum(estimate - factor * below, 0), np.minimum(estimate + factor * above, 1)


def _discriminant(answers: Array, second_share: Mask) -> tuple[Array, Array]:
    """Fisher's weights (probe,) and the middle between the kinds: sklearn's, but one shrinkage for the pooled kinds.

    That is one small fit where sklearn's checks its data twice: a tenth of the time, which the null asks 300 times.
    """
    first, second = answers[~second_share].mean(0), answers[second_share].mean(0)
    centred = answers - np.where(second_share[:, None], second, first)
    scale = centred.std(0)
    scale[scale == 0] = 1.0
    covariance, _ = ledoit_wolf(centred / scale, assume_centered=True)
    return np.linalg.solve(covariance, (second - first) / scale) / scale, (first + second) / 2
