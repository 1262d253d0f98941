"""AUC of an attack at contexts of several sizes, and extrapolated to a larger context.

Two curves are fitted: the AUC falls as a power of the number of records n on the probit scale (log probit(AUC) is
linear in log n), or logit(AUC) is linear in log n, which falls faster. Few measured sizes hardly tell them apart: the
estimate is that of the first, the larger one, and the interval is the union of both. Simulated: docs/coverage.md.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import SIGNIFICANT, TINY, Estimate, sampled_auc
from memaudit.statistics.threat_models import Case

FEWEST, FARTHEST = 3, 16  # sizes to extrapolate from, and how many times the largest the deployed one may be
UNDEFINED = 0.025  # share of replicates at or below chance, from which on a logarithm is not defined
SCALES = ((lambda auc: np.log(norm.ppf(auc)), lambda line: norm.cdf(np.exp(line))), (logit, expit))  # and back


class Measured(NamedTuple):
    """The AUC at one size of context, (replicate,) samples and their weights."""

    size: int
    estimate: Estimate
    samples: Array
    weights: bootstrap.Weights


def measured(size: int, case: Case, rng: np.random.Generator, replicates: int) -> Measured:
    """The AUC of an attack on contexts of this number of records."""
    weights = bootstrap.two_way_weights(*case.membership.shape, replicates, rng, case.groups)
    return Measured(size, *sampled_auc(case.scores(), case.membership, weights), weights)


def extrapolated(at: Sequence[Measured], deployed: int) -> tuple[Estimate | None, str]:
    """The AUC in a context of `deployed` records with its interval, or why it cannot be told.

    The line is fitted with the same weights to each draw of the sizes' bootstraps, which are independent of each other.
    """
    sizes, values = np.array([one.size for one in at]), np.array([one.estimate.estimate for one in at])
    if len(set(sizes.tolist())) < FEWEST:
        return None, f"it was measured at fewer than {FEWEST} sizes of context"
    if deployed > FARTHEST * sizes.max():
        return None, f"the deployed context is more than {FARTHEST} times as large as the largest that was measured"
    samples = np.array([one.samples for one in at])
    if (values <= 0.5).any() or (samples <= 0.5).mean(1).max() > UNDEFINED:
        return None, "at one of the sizes the leak is too small to extrapolate"
    places, samples = np.log(sizes / deployed), np.clip(samples, 0.5 + TINY, 1 - TINY)
    curves = [_curve(places, np.clip(values, None, 1 - TINY), samples, scale, back) for scale, back in SCALES]
    if max(fit for _, _, fit in curves) <= SIGNIFICANT:
        return None, "the sizes that were measured do not follow one curve"
    contexts = min(one.weights.models.shape[1] for one in at)
    ends = np.array([bootstrap.widened(limits, value, contexts, 0.5, 1) for value, limits, _ in curves])
    method = f"extrapolated from {len(sizes)} sizes by log probit linear in log records; interval: also logit linear"
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    return Estimate("auc", curves[0][0], low, high, at[-1].estimate.n, method, 0.5), ""


def _curve(
    places: Array, values: Array, samples: Array, scale: Callable[[Array], Array], back: Callable[[Array], Array]
) -> tuple[float, Array, float]:
    """The AUC at place 0, its samples (replicate,), and the p-value of the residuals; at least 0.5."""
    scaled, drawn = scale(values), scale(samples)
    precision = 1 / drawn.var(1, ddof=1)
    line = _line(places, scaled[:, None], precision)[:, 0]
    residuals = scaled - line[0] - line[1] * places
    fit = float(chi2.sf((precision * residuals**2).sum(), len(places) - 2))
    limits = np.maximum(back(_line(places, drawn, precision)[0]), 0.5)
    return max(float(back(line[0])), 0.5), limits, fit


def _line(places: Array, logs: Array, precision: Array) -> Array:
    """Intercept and slope (2, draw) of the weighted line through logs (size, draw)."""
    terms = np.column_stack([np.ones(len(places)), places])
    weighted = terms.T * precision
    return np.linalg.solve(weighted @ terms, weighted @ logs)
