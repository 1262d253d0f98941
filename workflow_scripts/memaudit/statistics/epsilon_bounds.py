"""Empirical lower bounds on epsilon from membership tests, and a mechanism of known epsilon to check them.

A test with false positive rate FPR and true positive rate TPR against an (epsilon, delta)-DP mechanism obeys
TPR <= e^epsilon FPR + delta and 1 - FPR <= e^epsilon (1 - TPR) + delta (Kairouz et al. 2015, Theorem 2.1; Jagielski et
al. 2020). The region is convex: a mixture of tests, such as one threshold over many records, never exceeds epsilon.
The sampling of the membership matrix decides the adjacency: Bernoulli and balanced sampling keep the other records of a
model (add/remove), fixed-size sampling replaces the record by another one (replace).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from memaudit.attacks.gaussian import CONVENTIONS, fit
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import gaussian_sigma
from memaudit.statistics import roc
from memaudit.statistics.bootstrap import Weights, rate, two_way_weights, widened
from memaudit.statistics.finite_population import predicted_tpr
from memaudit.statistics.intervals import TAIL, clopper_pearson
from memaudit.statistics.record_vulnerability import gap_statistics

ADJACENCY = {"bernoulli": "add/remove", "balanced": "add/remove", "fixed_size": "replace"}
REPLICATES = 1000


@dataclass(frozen=True)
class AuditPoint:
    """One audited test: epsilon >= `epsilon` with 95 % confidence, from a TPR and an FPR bounded at 97.5 % each."""

    score: str
    target_fpr: float
    epsilon: float
    tpr: float
    tpr_low: float
    fpr: float
    fpr_high: float
    cells: int
    method: str

    @property
    def mu(self) -> float:
        """Largest mu of Gaussian DP that the same two rates refute, with the same confidence (Dong et al. 2022)."""
        return mu_refuted(self.tpr_low, self.fpr_high)


def epsilon_lower_bound(tpr_low: float, fpr_high: float, delta: float) -> float:
    """Largest epsilon that both rates refute, in nats, never below 0.

    max of log((TPR - delta)/FPR) and log((1 - FPR - delta)/(1 - TPR)).
    """
    high_confidence = _log(tpr_low - delta) - _log(fpr_high)
    high_recall = _log(1 - fpr_high - delta) - _log(1 - tpr_low)
    return max(0.0, high_confidence, high_recall)


def mu_lower_bound(hits_in: int, inside: int, hits_out: int, outside: int, tail: float = TAIL) -> float:
    """Largest mu of Gaussian DP that one test refutes, never below 0 (Dong, Roth and Su 2022).

    hits_in of `inside` independent runs with the record passed the test, and hits_out of `outside` runs without it:
    Phi^-1(TPR) - Phi^-1(FPR), both bounded at `tail`. Gaussian noise of a cost rho has mu = sqrt(2 rho).
    """
    tpr_low, fpr_high = clopper_pearson(hits_in, inside, tail)[0], clopper_pearson(hits_out, outside, tail)[1]
    return mu_refuted(tpr_low, fpr_high)


def mu_refuted(tpr_low: float, fpr_high: float) -> float:
    """Largest mu of Gaussian DP that two bounded rates refute, Phi^-1(TPR) - Phi^-1(FPR), never below 0.

    The region of mu-Gaussian DP is convex, so that a threshold over many records never exceeds mu either.
    """
    # Never NaN: a bound on a TPR is below 1 and a bound on an FPR above 0.
    return max(0.0, float(special.ndtri(tpr_low) - special.ndtri(fpr_high)))


def audit_pooled(
    name: str,
    scores: Array,
    membership: Mask,
    fpr: float,
    delta: float,
    rng: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
) -> AuditPoint:
    """Audit one threshold over all records, the score called `name`; scores and membership are (model, record).

    groups: (record,) records of one unit, which are resampled together; epsilon is then of a unit.

    The models fall into two random halves, and each half is tested at the (1 - fpr) quantile of the other half's OUT
    scores, strictly above. Bounds: two-way bootstrap, but never tighter than Clopper-Pearson on as many independent
    cells. A count of zero, or of all, is of as many trials as models: their entries may share a model's noise. Raises
    AuditError where a score is not a number.
    """
    if np.isnan(scores).any():
        raise AuditError(f"score {int(np.argmax(np.isnan(scores)))} (flattened) is not a number: fix the calibration")
    half = rng.permutation(len(scores)) % 2 == 0
    thresholds = [np.quantile(scores[rows][~membership[rows]], 1 - fpr, method="higher") for rows in (half, ~half)]
    hits = scores > np.where(half, thresholds[1], thresholds[0])[:, None]
    weights = two_way_weights(*membership.shape, REPLICATES, rng, groups)
    tpr, tpr_low, _ = _pooled_bounds(hits, membership, weights)
    realised, _, fpr_high = _pooled_bounds(hits, ~membership, weights)
    epsilon = epsilon_lower_bound(tpr_low, fpr_high, delta)
    method = f"two-way bootstrap, {REPLICATES} replicates, thresholds from the other half of the models"
    return AuditPoint(name, fpr, epsilon, tpr, tpr_low, realised, fpr_high, membership.size, method)


def audit_best_record(
    signals: Array, membership: Mask, fpr: float, delta: float, rng: np.random.Generator
) -> AuditPoint:
    """Audit the single record with the highest predicted TPR; signals and membership are (model, record).

    One random half of the models chooses record, direction and threshold: the highest normal TPR at `fpr`. The other
    half gives independent trials of this one test (exactly so under Bernoulli and fixed-size sampling), hence
    Clopper-Pearson. Raises AuditError where a half leaves a record with fewer than 2 models on a side.
    """
    scores, member = best_record_scores(signals, membership, fpr, rng)
    hits = scores > stats.norm.isf(fpr)
    true_hits, inside, false_hits, outside = (
        int(part.sum()) for part in (hits & member, member, hits & ~member, ~member)
    )
    tpr_low, fpr_high = clopper_pearson(true_hits, inside)[0], clopper_pearson(false_hits, outside)[1]
    epsilon = epsilon_lower_bound(tpr_low, fpr_high, delta)
    method = "Clopper-Pearson, record and threshold from the other half of the models"
    tpr, realised = true_hits / inside, false_hits / outside
    return AuditPoint("best_record", fpr, epsilon, tpr, tpr_low, realised, fpr_high, member.size, method)


def best_record_scores(signals: Array, membership: Mask, fpr: float, rng: np.random.Generator) -> tuple[Array, Mask]:
    """Scores of the record with the highest predicted TPR in the models that did not choose it, and its membership.

    (test model,) each: independent trials, standardised by the OUT signals of the other half. See `audit_best_record`.
    """
    chosen = rng.permutation(len(signals)) % 2 == 0
    gap = gap_statistics(signals[chosen], membership[chosen])
    record = int(predicted_tpr(gap, fpr).argmax())
    outside = fit(signals[chosen][:, [record]], ~membership[chosen][:, [record]], CONVENTIONS["ddof1"])
    member = membership[~chosen, record]
    if not 0 < member.sum() < member.size:
        raise AuditError(f"record at position {record} has only IN or only OUT test models: raise the number of models")
    return np.sign(gap.delta[record]) * outside.standardise(signals[~chosen, record]), member


def clopper_pearson_roc(scores: Array, member: Mask, fprs: Array) -> Array:
    """TPR at each FPR with Clopper and Pearson's 95 % interval, (fpr, 3), for independent entries (entry,).

    Each threshold is the one with this FPR among the non-members, which are independent of the members: the interval
    is of the TPR at this threshold.
    """
    inside, tprs = np.count_nonzero(member), roc.tpr_at_fpr(scores, member, fprs)
    # A TPR between two thresholds has the lower end of one and the upper end of the other.
    counts = [(int(np.floor(tpr * inside + 1e-9)), int(np.ceil(tpr * inside - 1e-9))) for tpr in tprs]
    ends = [(clopper_pearson(low, inside)[0], clopper_pearson(high, inside)[1]) for low, high in counts]
    return np.column_stack([tprs, ends])


def gaussian_toy(
    epsilon: float, delta: float, models: int, rng: np.random.Generator, sensitivities: Array
) -> tuple[Array, Mask]:
    """Signals and Bernoulli membership matrix, (model, record), of a mechanism that is exactly (epsilon, delta)-DP.

    A record shifts its signal by its sensitivity, (record,) in [0, 1]; the noise is calibrated for sensitivity 1.
    """
    membership = rng.random((models, len(sensitivities))) < 0.5
    return membership * sensitivities + gaussian_sigma(epsilon, delta) * rng.standard_normal(
        membership.shape
    ), membership


def _pooled_bounds(hits: Mask, cells: Mask, weights: Weights) -> tuple[float, float, float]:
    count, trials = int(hits[cells].sum()), int(cells.sum())
    replicates = rate((hits & cells).T, cells.T, weights)
    # Entries of a model may share its noise: where all hit, or all miss, there are as many trials as models.
    low, high = widened(replicates, count / trials, weights.models.shape[1], 0, 1)
    floor, ceiling = clopper_pearson(count, trials)
    return count / trials, min(low, floor), max(high, ceiling)


def _log(rate: float) -> float:
    return float(np.log(rate)) if rate > 0 else -np.inf
