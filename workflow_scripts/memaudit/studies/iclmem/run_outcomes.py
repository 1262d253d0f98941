"""Does a fine-tuned in-context model remember records? Scores, outcomes and flags of single runs (ICLMEM, sections 4.2
and 5, appendices A.4 and B, Table 3).

What is known of runs stands in arrays (run,) of these names: `loss`, `base_loss` (mean vanilla loss of the attacked
targets, in nats), `quality`, `base_quality` (accuracy or R2 on the vanilla context, of non-members: members' labels may
be shuffled), `chance` (accuracy of the majority predictor, R2 0 of the mean; NaN where no target has a label of its
own), `mu_gap`, `sigma_gap` (nats), `diverged`, `larger_auc`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Mask
from memaudit.statistics.roc import ROUNDING

SIGNALS = ("loss", "entropy", "confidence", "error")
# What a model remembers has a low loss, entropy and error, and a high confidence.
DIRECTION = np.array([-1.0, -1.0, 1.0, -1.0])

OUTCOMES = ("collapse", "inversion", "detectable", "context overfitting", "no signal")
COLLAPSE, INVERSION, DETECTABLE, OVERFITTING, NO_SIGNAL = OUTCOMES


@dataclass(frozen=True)
class Rule:
    """Thresholds of Table 3 and of A.4. The paper's Table 3 says AUC > .5; its Tables 10 and 11 mark as memorization
    what begins at .560, and nothing up to .542: auc = .55 is the rule as tabulated."""

    loss_ratio: float = 5.0
    auc: float = 0.5
    mu_gap: float = 0.05
    sigma_gap: float = 0.2
    flag: float = 0.1


def robustness(signals: NDArray[np.floating]) -> Array:
    """Robustness scores S (..., target, signal): means of signals (..., target, manipulation, signal)."""
    return signals.mean(axis=-2, dtype=np.float64)


def score(tuned: Array, reference: Array | float = 0.0) -> Array:
    """Membership scores (..., signal) of dS = S - S_ref, higher = more likely a member; without a reference, of S."""
    return DIRECTION * (tuned - reference)


def gaps(loss: NDArray[np.floating], member: Mask) -> Array:
    """g_k (manipulation,): mean loss of members less that of non-members; loss: (target, manipulation)."""
    inside, outside = (loss[side].mean(axis=0, dtype=np.float64) for side in (member, ~member))
    return inside - outside


def collapsed(facts: Mapping[str, Array], rule: Rule) -> Mask:
    """Runs that no longer predict: diverged, or with a vanilla loss too far above the base's, or with an accuracy (R2)
    that fell from what is no worse than the majority (mean) predictor to below it.

    Where the base itself is worse than that, fine-tuning has destroyed nothing. The negative log density of a number
    may be below 0: its ratio then says nothing, and R2 decides alone.
    """
    ratio = (facts["base_loss"] > 0) & (facts["loss"] > rule.loss_ratio * facts["base_loss"])
    falls = (facts["base_quality"] >= facts["chance"]) & (facts["quality"] < facts["chance"])
    return np.asarray(facts["diverged"], np.bool_) | ratio | falls


def published(facts: Mapping[str, Array], rule: Rule) -> Mask:
    """The published criterion: AUC(dS) above a fixed threshold on loss or entropy. Chance meets it, too."""
    return np.asarray(facts["larger_auc"] > rule.auc)


def outcomes(facts: Mapping[str, Array], rule: Rule, detected: Mask) -> NDArray[np.str_]:
    """The outcome (run,) of each run, in the priority order of Table 3; detected: (run,) by whichever criterion.

    Members' mean probe loss over all manipulations is above that of non-members exactly where mu_gap > 0.
    """
    flat = (np.abs(facts["mu_gap"]) < rule.mu_gap) & (facts["sigma_gap"] < rule.sigma_gap)
    held = [collapsed(facts, rule), np.asarray(facts["mu_gap"] > 0), detected, np.asarray(flat)]
    return np.select(held, OUTCOMES[:4], default=NO_SIGNAL)


def flags(raw_tpr: Array, reference_tpr: Array, rule: Rule) -> tuple[Mask, Mask]:
    """What raw and calibrated TPRs flag (A.4), which asks only about runs that did not collapse.

    raw: the TPR at 10 % FPR of S, uncalibrated, is at least .10. calibrated: it exceeds by at least .10 the same TPR of
    the base model's S on the same records: what the base "extracts prior to fine-tuning" does not count. So a
    calibrated flag is a raw one, too, as the paper's 11 are among its 241.
    """
    return raw_tpr >= rule.flag - ROUNDING, raw_tpr - reference_tpr >= rule.flag - ROUNDING
