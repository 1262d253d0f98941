"""AUC of an attack at contexts of several sizes, and extrapolated to a larger context.

On the probit scale the AUC is taken to fall as a power of the number of records: log probit(AUC) is linear in log n.
Coverage where it does, and where the leak of a record falls as the root of n: docs/coverage.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm

from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import SIGNIFICANT, Estimate
from memaudit.statistics.roc_replicates import auc_replicates
from memaudit.statistics.threat_models import Case

FEWEST, FARTHEST = 3, 16  # sizes to extrapolate from, and how many times the largest the deployed one may be
UNDEFINED = 0.025  # share of replicates at or below chance, from which on a logarithm is not defined


class Measured(NamedTuple):
    """The AUC at one size of context, (replicate,) samples and their weights."""

    size: int
    estimate: Estimate
    samples: Array
    weights: bootstrap.Weights


def measured(size: int, case: Case, rng: np.random.Generator, replicates: int) -> Measured:
    """The AUC of an attack on contexts of this number of records."""
    scores, member = case.scores(), case.membership
    weights = bootstrap.two_way_weights(*member.shape, replicates, rng, case.groups)
    ranking = roc.rank(scores, member)
    samples, value = auc_replicates(ranking, member.shape, weights), roc.area(*roc.curve(ranking))
    ends = bootstrap.two_way_interval(samples, value, weights, 0, 1)
    return Measured(size, Estimate("auc", value, *ends, member.size, "two-way bootstrap", 0.5), samples, weights)


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
    logs, drawn = np.log(norm.ppf(values)), np.log(norm.ppf(np.maximum(samples, 0.5 + 1e-6)))
    precision = 1 / drawn.var(1, ddof=1)
    places = np.log(sizes / deployed)
    residuals = logs - np.column_stack([np.ones(len(sizes)), places]) @ _line(places, logs[:, None], precision)[:, 0]
    if chi2.sf((precision * residuals**2).sum(), len(sizes) - 2) <= SIGNIFICANT:
        return None, "the sizes that were measured do not follow one curve"
    (value,), limits = (norm.cdf(np.exp(_line(places, one, precision)[0])) for one in (logs[:, None], drawn))
    low, high = bootstrap.widened(limits, float(value), min(one.weights.models.shape[1] for one in at), 0.5, 1)
    method = f"extrapolated from {len(sizes)} sizes, log probit linear in log records"
    return Estimate("auc", float(value), low, high, at[-1].estimate.n, method, 0.5), ""


def _line(places: Array, logs: Array, precision: Array) -> Array:
    """Intercept and slope (2, draw) of the weighted line through logs (size, draw)."""
    terms = np.column_stack([np.ones(len(places)), places])
    weighted = terms.T * precision
    return np.linalg.solve(weighted @ terms, weighted @ logs)
