"""Lower bounds on mu and epsilon of a mechanism that is run many times, on a table and on its neighbour.

Of as many runs with the record as without it, a test of mu-Gaussian DP tells at most the share Phi(mu / 2) rightly, in
the mean (Dong, Roth and Su 2022: the trade-off curve at the FPR of 1 - TPR). The number of right ones then has no
larger upper tail than a binomial one of this share (Hoeffding 1956), so that Clopper and Pearson's bound on the share
bounds mu. The test is a linear one that is fitted on other runs: whatever it uses, the bound holds.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from memaudit.common.arrays import Array
from memaudit.privacy.accounting import gaussian_delta
from memaudit.statistics.intervals import clopper_pearson

FITTED = 0.25  # share of the runs on which the test is fitted
RIDGE = 1e-6  # of each feature's variance: a feature without noise gets a large weight, not an infinite one
CUTS = np.linspace(0.05, 0.95, 37)  # quantiles of the fitted scores: the threshold has the largest TPR - FPR
LARGEST = 500.0  # e^500 is finite


@dataclass(frozen=True)
class Distinguished:
    """mu: refuted below it; tpr, fpr: rates of the test in the runs that it was not fitted on; runs: of each table."""

    mu: float
    tpr: float
    fpr: float
    runs: int


def distinguish(inside: Array, outside: Array, level: float) -> Distinguished:
    """Bound from features of releases with the record and without it, (run, feature) each, as many of both.

    level: probability that the bound is too large. The first runs fit the test.
    """
    fitted = round(FITTED * len(inside))
    weights = _weights(inside[:fitted], outside[:fitted])
    first, rest = ([one[part] @ weights for one in (inside, outside)] for part in (slice(fitted), slice(fitted, None)))
    cuts = np.sort(np.concatenate(first))[(CUTS * (2 * fitted - 1)).astype(int)]
    threshold = max(cuts, key=lambda cut: np.subtract(*(np.mean(scores > cut) for scores in first)))
    hits, wrong = (int((scores > threshold).sum()) for scores in rest)
    runs = len(rest[0])
    return Distinguished(_refuted(hits + runs - wrong, 2 * runs, level), hits / runs, wrong / runs, runs)


def largest_bound(mu: float, runs: int, level: float) -> float:
    """Bound on mu that the best test of a mu-Gaussian mechanism gives at its expected share, with so many runs."""
    return _refuted(2 * runs * special.ndtr(mu / 2), 2 * runs, level)


def bound_of_rates(tpr: float, fpr: float, runs: int, level: float) -> float:
    """The bound on mu of a test with these rates in so many runs of each table, as in `distinguish`."""
    return _refuted(round(tpr * runs) + runs - round(fpr * runs), 2 * runs, level)


def epsilon_of_mu(mu: float, delta: float) -> float:
    """Epsilon of mu-Gaussian DP at this delta; 0 where delta covers it all, infinite beyond `LARGEST`."""
    if mu <= 0 or gaussian_delta(0.0, 1 / mu) <= delta:
        return 0.0
    if gaussian_delta(LARGEST, 1 / mu) > delta:
        return np.inf
    return float(optimize.brentq(lambda epsilon: gaussian_delta(epsilon, 1 / mu) - delta, 0.0, LARGEST))


def _refuted(right: float, trials: int, level: float) -> float:
    return max(0.0, float(2 * special.ndtri(clopper_pearson(right, trials, level)[0])))


def _weights(inside: Array, outside: Array) -> Array:
    """Weights (feature,) of Fisher's linear discriminant."""
    centred = np.vstack([inside - inside.mean(0), outside - outside.mean(0)])
    # Features differ in scale, and some are constant.
    scale = np.vstack([inside, outside]).std(0)
    scale[scale == 0] = 1
    covariance = np.cov(centred / scale, rowvar=False).reshape(len(scale), len(scale))
    difference = (inside.mean(0) - outside.mean(0)) / scale
    return np.linalg.solve(covariance + RIDGE * np.eye(len(scale)), difference) / scale
