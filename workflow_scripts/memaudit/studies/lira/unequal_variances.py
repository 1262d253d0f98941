"""Power that the one-sided post-processed test loses where variances are unequal (Jälkö et al. 2026, Section 4.2.2)."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from memaudit.attacks.gaussian import CONVENTIONS, fit, require_shadows
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.student_t import normal_threshold

HALVINGS = 60


@dataclass(frozen=True)
class Tests:
    """What each test could do on each record with exactly its two Gaussians, arrays (record,).

    gap: mu_in - mu_out; ratio: sigma_in / sigma_out; one_sided, best: TPR of the post-processed test and of the
    likelihood-ratio test at the given FPR.
    """

    gap: Array
    ratio: Array
    one_sided: Array
    best: Array


def compare_tests(signals: Array, membership: Mask, fpr: float) -> Tests:
    """Gaussian fits (ddof 1, all models) of every record and the power of both tests.

    With delta = |mu_in - mu_out| / sigma_out and r = sigma_in / sigma_out both TPRs have closed forms; r = 1 makes the
    tests one. r is estimated: at n models a side it scatters by 1/sqrt(n) even where the deviations are equal, so at
    few models the best test's gain is noise too. signals, membership: (model, record).
    Raises AuditError where a record has fewer than 3 models on one side.
    """
    require_shadows(membership)
    inside, outside = (fit(signals, member, CONVENTIONS["ddof1"]) for member in (membership, ~membership))
    gap = inside.centre - outside.centre
    delta, ratio = np.abs(gap) / outside.sigma, inside.sigma / outside.sigma
    return Tests(gap, ratio, one_sided_tpr(delta, ratio, fpr), likelihood_ratio_tpr(delta, ratio, fpr))


def one_sided_tpr(delta: Array, ratio: Array, fpr: float) -> Array:
    """Pr(N(delta, ratio^2) > z_{1 - fpr}): the post-processed test with known Gaussians."""
    return ndtr((delta - normal_threshold(fpr)) / ratio)


def likelihood_ratio_tpr(delta: Array, ratio: Array, fpr: float) -> Array:
    """TPR of the most powerful test of N(0, 1) against N(delta, ratio^2), delta >= 0, at this FPR.

    The log-likelihood ratio is a parabola with its vertex at c = -delta / (ratio^2 - 1): a wider IN is rejected outside
    [2c - edge, edge], a narrower IN inside [edge, 2c - edge]. The edge that has this FPR is found by halving.
    """
    delta, ratio = np.broadcast_arrays(np.asarray(delta, float), np.asarray(ratio, float))
    wider = ratio >= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where((delta == 0) & (ratio != 1), 0.0, -delta / (ratio**2 - 1))
    vertex = np.where(ratio == 1, -np.inf, vertex)

    def region(edge: Array, centre: Array | float, scale: Array | float) -> Array:
        near, far = ndtr((centre - edge) / scale), ndtr((2 * vertex - edge - centre) / scale)
        # Widely separated edges: 1 - Phi is written Phi(-x), or the far tail would be lost to rounding.
        return np.where(wider, near + far, far - ndtr((edge - centre) / scale))

    low = np.where(wider, np.maximum(vertex, -40.0), -40.0)
    high = np.where(wider, 40.0, np.minimum(vertex, 40.0))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        large = region(middle, 0.0, 1.0) > fpr
        low, high = np.where(large, middle, low), np.where(large, high, middle)
    return region((low + high) / 2, delta, ratio)
