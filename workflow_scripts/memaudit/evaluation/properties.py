"""Property inference (Ateniese et al. 2015): what share of a context has a property?

Nobody's membership is asked about: the secret is a number about the whole context. The adversary draws reference sets
of either share, asks all about the same public records, and learns to tell the two kinds of answers apart.

An interval that resamples the sets, each with its score, does not see that the discriminants were fitted on few: with
64 sets and 114 records the AUC of noise has a standard deviation of .09 where 64 independent scores have .07. The
permutation null does the whole cross-validation anew and sees it: read the p-value first.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf
from sklearn.model_selection import StratifiedKFold

from memaudit.evaluation import roc
from memaudit.evaluation.judge import FPRS, Null
from memaudit.steps import steps

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

FOLDS = 8
PROBES = 128  # public records that are asked about: a discriminant costs the cube of their number


def scores(answers: Array, shown: Mask, rng: np.random.Generator) -> Array:
    """How much each set's answers speak for the second share, by a discriminant that was fitted without its fold.

    Answers in one context move together, so likelihood ratios must not be added up over records. A linear discriminant
    knows their covariance; with fewer sets than records it is shrunk (Ledoit and Wolf 2004). answers: (model, probe),
    log-odds of the true labels of public records, of which at most 128, drawn at random, are used; shown: (model,),
    True: the second share. Folds hold equally many of both kinds where the sets do. Returns (model,).
    """
    chosen = np.sort(rng.permutation(answers.shape[1])[:PROBES])
    folds = min(FOLDS, np.count_nonzero(shown), np.count_nonzero(~shown))
    split = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    found, answers = np.empty(len(answers)), answers[:, chosen]
    for others, fold in split.split(answers, shown):
        weights, middle = _discriminant(answers[others], shown[others])
        found[fold] = (answers[fold] - middle) @ weights
    return found


def permutation_null(
    answers: Array, shown: Mask, *, permutations: int, rng: np.random.Generator, fprs: Sequence[float] = FPRS
) -> Null:
    """AUC and TPRs of the whole cross-validation when the kinds belong to other sets; arguments as in `scores`."""
    values = []
    for _ in steps(range(permutations), "permuted shares"):
        other = rng.permutation(shown)
        found = scores(answers, other, rng)
        values.append([roc.auc(found, other), *roc.tpr_at_fpr(found, other, fprs)])
    return Null(tuple(fprs), np.array(values))


def _discriminant(answers: Array, shown: Mask) -> tuple[Array, Array]:
    """Fisher's weights (probe,) and the middle between the kinds: sklearn's, but one shrinkage for the pooled kinds.

    That is one small fit where sklearn's checks its data twice: a tenth of the time, which the null asks 300 times.
    """
    first, second = answers[~shown].mean(0), answers[shown].mean(0)
    centred = answers - np.where(shown[:, None], second, first)
    scale = centred.std(0)
    scale[scale == 0] = 1.0
    covariance, _ = ledoit_wolf(centred / scale, assume_centered=True)
    return np.linalg.solve(covariance, (second - first) / scale) / scale, (first + second) / 2
