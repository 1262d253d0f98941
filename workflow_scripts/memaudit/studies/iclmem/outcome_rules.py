"""Scores, outcomes and flags of single runs of a fine-tuned in-context model.

ICLMEM, sections 4.2 and 5, appendices A.4 and B, Table 3. Facts of runs are arrays (run,) of these names: `loss`,
`base_loss` (mean vanilla loss of the attacked targets, in nats), `quality`, `base_quality` (accuracy or R2 of
non-members with the vanilla context: labels of members may be shuffled), `chance` (accuracy of the majority predictor,
R2 0 of the mean; NaN where each target has a random label), `mu_gap`, `sigma_gap` (nats), `diverged`, `larger_auc`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Floats, Mask
from memaudit.statistics.roc import ROUNDING

LEVEL = 0.05  # of the permutation tests and of the false discovery rate
# Sign by signal (PROBE_SIGNALS): memorized records have a low loss, entropy and error, and a high confidence.
DIRECTION = np.array([-1.0, -1.0, 1.0, -1.0])

OUTCOMES = ("collapse", "inversion", "detectable", "context overfitting", "no signal")
COLLAPSE, INVERSION, DETECTABLE, OVERFITTING, NO_SIGNAL = OUTCOMES


@dataclass(frozen=True)
class Rule:
    """Thresholds of Table 3 and of A.4.

    The paper's Table 3 states AUC > .5; its Tables 10 and 11 mark memorization from .560 on and none up to .542, so
    auc = .55 is the rule as tabulated.
    """

    loss_ratio: float = 5.0
    auc: float = 0.5
    mu_gap: float = 0.05
    sigma_gap: float = 0.2
    flag: float = 0.1


def robustness(signals: Floats) -> Array:
    """Robustness scores S (..., target, signal): means of signals (..., target, manipulation, signal)."""
    return signals.mean(axis=-2, dtype=np.float64)


def score(tuned: Array, reference: Array | float = 0.0) -> Array:
    """Membership scores (..., signal) of dS = S - S_ref, higher = more likely a member; without a reference, of S."""
    return DIRECTION * (tuned - reference)


def gaps(loss: Floats, member: Mask) -> Array:
    """g_k (manipulation,): mean loss of members minus that of non-members; loss: (target, manipulation)."""
    members, nonmembers = (loss[chosen].mean(axis=0, dtype=np.float64) for chosen in (member, ~member))
    return members - nonmembers


def collapsed(facts: Mapping[str, Array], rule: Rule) -> Mask:
    """Runs (run,) that no longer predict: diverged, vanilla loss far above the base's, or worse than chance.

    The last: accuracy (R2) fell from at least that of the majority (mean) predictor to below it. Where the base itself
    is below it, fine-tuning has destroyed nothing. The negative log density of a number may be negative: its ratio is
    then meaningless, and R2 decides alone.
    """
    ratio = (facts["base_loss"] > 0) & (facts["loss"] > rule.loss_ratio * facts["base_loss"])
    falls = (facts["base_quality"] >= facts["chance"]) & (facts["quality"] < facts["chance"])
    return np.asarray(facts["diverged"], np.bool_) | ratio | falls


def published(facts: Mapping[str, Array], rule: Rule) -> Mask:
    """The published criterion (run,): AUC(dS) above a fixed threshold on loss or entropy.

    It has no error rate. Without memorization one signal exceeds one half in every second run, and the larger of two
    whose AUCs have correlation r in 3/4 - arcsin(r) / 2 pi of the runs: .57 at .9, .75 at 0, .83 at -.5. It flags about
    half to four fifths of the negative controls.
    """
    return np.asarray(facts["larger_auc"] > rule.auc)


def outcomes(facts: Mapping[str, Array], rule: Rule, detected: Mask) -> NDArray[np.str_]:
    """The outcome (run,) of each run, in the priority order of Table 3; detected: (run,), by any criterion.

    The mean probe loss of members over all manipulations exceeds that of non-members exactly where mu_gap > 0.
    """
    flat = (np.abs(facts["mu_gap"]) < rule.mu_gap) & (facts["sigma_gap"] < rule.sigma_gap)
    conditions = [collapsed(facts, rule), np.asarray(facts["mu_gap"] > 0), detected, np.asarray(flat)]
    return np.select(conditions, OUTCOMES[:4], default=NO_SIGNAL)


def flags(raw_tpr: Array, reference_tpr: Array, rule: Rule) -> tuple[Mask, Mask]:
    """Runs flagged by raw and by calibrated TPRs (A.4), which considers only runs that did not collapse.

    raw: the TPR at 10 % FPR of the uncalibrated S is at least .10. calibrated: it exceeds by at least .10 the same TPR
    of the base model's S on the same records: what the base "extracts prior to fine-tuning" does not count. So every
    calibrated flag is a raw one, as the paper's 11 are among its 241.
    """
    return raw_tpr >= rule.flag - ROUNDING, raw_tpr - reference_tpr >= rule.flag - ROUNDING
