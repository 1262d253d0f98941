"""Blind classifier of texts: whether the words alone tell members from non-members, without a query of any model.

Its scores are linear in the membership, so that the scores of thousands of permuted memberships cost one product of
matrices. Blind baselines of membership inference: Duan et al. 2024; Das et al. 2024.
"""

from collections.abc import Sequence

import numpy as np

from memaudit.common.arrays import Array

FOLDS = 5
PENALTY = 0.1  # of the ridge regression; rows of the TF-IDF matrix have norm 1


def blind_weights(texts: Sequence[str], rng: np.random.Generator) -> Array:
    """Weights (text, text) whose product with a membership (text,) is the membership score of every text.

    Ridge regression of membership on TF-IDF of words and pairs of words, in its dual form; each text is scored by the
    other folds. Folds are drawn without a look at the membership, and each fold's scores are centred: folds differ in
    their intercept.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", sublinear_tf=True).fit_transform(texts)
    kernel = (words @ words.T).toarray()
    weights = np.zeros(kernel.shape)
    for held_out in np.array_split(rng.permutation(len(texts)), FOLDS):
        seen = np.setdiff1d(np.arange(len(texts)), held_out)
        penalised = kernel[np.ix_(seen, seen)] + PENALTY * np.eye(len(seen))
        fold = np.linalg.solve(penalised, kernel[np.ix_(seen, held_out)]).T
        fold -= fold.mean(0)  # scores are centred over the fold,
        weights[np.ix_(held_out, seen)] = fold - fold.mean(1, keepdims=True)  # and memberships over those seen
    return weights
