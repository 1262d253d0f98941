"""Thresholds at a nominal FPR of normal scores and of Student's t, whose degrees of freedom are fitted."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import norm
from scipy.stats import t as student

from memaudit.common.arrays import Array, Floats

BINS_PER_NAT = 512
MOST_FREEDOM = 1e7


class BinnedSquares:
    """Counts of log(1 + x^2) in bins of 1/512: all that the likelihood of 20 million values needs.

    The bins' width costs the degrees of freedom less than 1e-5 of their value (measured against scipy's fit).
    """

    def __init__(self) -> None:
        self.counts = np.zeros(1, dtype=np.int64)

    def add(self, values: Floats) -> None:
        """Take in values of any shape."""
        bins = (np.log1p(np.square(values.ravel(), dtype=np.float64)) * BINS_PER_NAT).astype(np.int64)
        new = np.bincount(bins, minlength=len(self.counts))
        new[: len(self.counts)] += self.counts
        self.counts = new

    def degrees_of_freedom(self) -> float:
        """Maximum-likelihood degrees of freedom; 1e7, the normal distribution, where tails are lighter than that."""
        filled = np.flatnonzero(self.counts)
        squares, counts = np.expm1((filled + 0.5) / BINS_PER_NAT), self.counts[filled]

        def loss(log_freedom: float) -> float:
            freedom = np.exp(log_freedom)
            constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - np.log(freedom * np.pi) / 2
            return (freedom + 1) / 2 * counts @ np.log1p(squares / freedom) / counts.sum() - constant

        best = minimize_scalar(loss, bounds=(np.log(0.05), np.log(MOST_FREEDOM)), method="bounded")
        return float(np.exp(best.x))


def normal_threshold(fpr: float) -> float:
    """Threshold that a standard normal score exceeds with probability `fpr`."""
    return norm.ppf(1 - fpr)


def t_threshold(fpr: float, freedom: float) -> float:
    """Threshold that Student's t with these degrees of freedom exceeds with probability `fpr`."""
    return float(student.ppf(1 - fpr, freedom))


def exact_threshold(fpr: float, shadows: NDArray[np.integer]) -> Array:
    """t_{n-1} sqrt(1 + 1/n): a new value standardised on n Gaussian values (ddof 1) exceeds it with chance `fpr`.

    Exact where the sign of a record's gap is beyond doubt. Where it is estimated too, it takes sides with the error of
    mu_out: without any gap the simulated FPR at nominal .01 is .0142 (16 models), .0125 (64), .0114 (256); from a gap
    of one sigma_out on it is .0109, .0099, .0104. The normal threshold gives .045 at 16 models and a gap of two.
    """
    return student.ppf(1 - fpr, shadows - 1) * np.sqrt(1 + 1 / shadows)
