"""What an adversary infers and links without the model: from other records of the population alone.

A model that predicts well tells about everybody, members or not, what the population tells. An inference is due to the
model only where it exceeds that of an adversary who never queries it (Jayaraman and Evans 2022, imputation; the naive
and the control attack of anonymeter, Giomi et al. 2023).
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from memaudit.attacks.candidate_records import Candidates
from memaudit.common.arrays import Array, Codes, Floats

TREES, LEAF, MOST_FITTED = 200, 3, 4000
DOUBT = 0.05  # share of the prior that is equal for all answers: few records never make an answer impossible


def imputed(reference: Floats, bins: Codes, targets: Floats, count: int, threads: int = 1) -> Array:
    """Probabilities (target, bin) of the bins of a hidden column, by a forest on other records.

    reference: (record, feature) without the hidden column, with the target column if the adversary knows it; bins:
    (record,), -1 where the value is missing or is not tried; targets: (target, feature) alike; count: of bins.
    """
    known = np.flatnonzero(bins >= 0)[:MOST_FITTED]
    every = np.zeros((len(targets), count))
    if len(known):
        fitted = _forest(threads).fit(reference[known], bins[known])
        every[:, fitted.classes_] = fitted.predict_proba(targets)
    return _doubtful(every)


def linked(
    reference: Floats,
    candidates: Candidates,
    of_half: NDArray[np.bool_],
    more: tuple[Floats, Floats] | None,
    rng: np.random.Generator,
    threads: int = 1,
) -> Array:
    """Probabilities (target, level) that a join is a person's own, by a forest that tells records from random joins.

    reference: (record, feature) of other persons; of_half: (feature,) the half that is linked; more: what else belongs
    to the known half, (record,) and (target,), such as the target column; None: nothing.
    """
    own = reference[:MOST_FITTED]
    mixed = own.copy()
    mixed[:, of_half] = own[rng.permutation(len(own))][:, of_half]
    tried = candidates.records.reshape(-1, own.shape[1]).astype(np.float64)
    rows = np.vstack([own, mixed])
    if more is not None:
        given = more[0][:MOST_FITTED]
        rows = np.column_stack([rows, np.vstack([given, given])])
        tried = np.column_stack([tried, np.repeat(more[1], candidates.records.shape[1])])
    fitted = _forest(threads).fit(rows, np.repeat([1, 0], len(own)))
    share = np.clip(fitted.predict_proba(tried)[:, 1], DOUBT / 2, 1 - DOUBT / 2)
    return _doubtful((share / (1 - share)).reshape(candidates.records.shape[:2]))


def _forest(threads: int) -> RandomForestClassifier:
    return RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=0, n_jobs=threads)


def _doubtful(weights: Array) -> Array:
    """Weights (target, answer) as probabilities, none of them 0."""
    total = weights.sum(1, keepdims=True)
    shares = np.divide(weights, total, out=np.full(weights.shape, 1 / weights.shape[1]), where=total > 0)
    return (1 - DOUBT) * shares + DOUBT / weights.shape[1]
