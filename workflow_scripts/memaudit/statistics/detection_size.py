"""Smallest AUC that an attack on so many contexts and records detects with probability .9, before anything is run.

Simulated: Gaussian signals, balanced memberships, and effects that differ from record to record (exponential, since a
few records carry most of a leak). A leak counts as detected where the interval of the two-way bootstrap lies above the
mean without an effect (`attack_performance.Estimate.detected`); its estimate is normal about its mean.
"""

from functools import cache

import numpy as np
from scipy.stats import norm

from memaudit.attacks.calibrate import calibrate
from memaudit.data import membership_matrices
from memaudit.statistics import bootstrap, roc, roc_replicates

POWER = 0.9
REPEATS, BOOTSTRAPS, REPLICATES = 40, 6, 100
EFFECT = 0.4  # mean effect in deviations of a record over contexts: AUCs are near .6
FEWEST = 8  # contexts and records of which the attack can be calibrated


@cache
def smallest_auc(contexts: int, records: int) -> float:
    """Smallest AUC that is detected with probability `POWER`; NaN with fewer than `FEWEST` contexts or records."""
    if contexts < FEWEST or records < FEWEST:
        return np.nan
    rng = np.random.default_rng([contexts, records])
    without, _, _ = _simulated(contexts, records, 0.0, rng)
    _, spread, half_width = _simulated(contexts, records, EFFECT, rng)
    return float(without + half_width + norm.ppf(POWER) * spread)


def tells(contexts: int, records: int, auc: float | None) -> bool:
    """Whether an AUC is detected with probability `POWER` by so many contexts and records; None: nothing is asked."""
    return auc is None or smallest_auc(contexts, records) <= auc


def _simulated(contexts: int, records: int, effect: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Mean and deviation of the AUC over data sets, and the mean distance down to the lower end of its interval."""
    areas, half_widths = [], []
    for repeat in range(REPEATS):
        member = membership_matrices.balanced(contexts, records, rng)
        signals = rng.normal(size=member.shape) + effect * rng.exponential(size=records) * member
        ranking = roc.rank(calibrate(signals, member, "lira_shrunk"), member)
        areas.append(roc.area(*roc.curve(ranking)))
        if repeat < BOOTSTRAPS:
            weights = bootstrap.two_way_weights(*member.shape, REPLICATES, rng, np.arange(records))
            samples = roc_replicates.auc_replicates(ranking, member.shape, weights)
            half_widths.append(areas[-1] - bootstrap.two_way_interval(samples, areas[-1], weights, 0, 1)[0])
    return float(np.mean(areas)), float(np.std(areas, ddof=1)), float(np.mean(half_widths))
