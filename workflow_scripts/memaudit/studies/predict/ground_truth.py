"""Ground truth of memorization from shadow models: log-LiRA per target, global LiRA, counterfactual memorization.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 and 5.1, Definitions 3 and 4, Appendix
A.3. Signals are logit gaps, the label's logit minus the largest other one (Appendix C).
"""

from typing import Any

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.rank_correlation import rank_correlation
from memaudit.statistics.record_vulnerability import gap_statistics


def log_lira(signals: Array, membership: Mask, targets: int = 1, **options: Any) -> Array:
    """log p_in - log p_out of the first `targets` models, all others as their shadow models, (target, record).

    Definition 3 at the end of training; at the checkpoint of the prediction it is the baseline (Biderman et al. 2023,
    Section 5.1). signals, membership: (model, record); options: see `attacks.lira.log_likelihood_ratio`. Fits are
    leave-one-out, as published: only members are judged, so there is no bias against non-members to correct.
    """
    return calibrate(signals, membership, "lira", targets=targets, **{"leave": "self", **options})


def attack_success(signals: Array, membership: Mask, **options: Any) -> Array:
    """Share of models whose membership of the record LiRA predicts correctly, (record,): global LiRA (Definition 4).

    A tie counts as wrong. The authors' code fits with the target's own value; here it is left out.
    """
    scores = calibrate(signals, membership, "lira", **options)
    return (np.where(membership, scores, -scores) > 0).mean(0)


def counterfactual_memorization(signals: Array, membership: Mask) -> Array:
    """Mean signal of models trained with the record minus that of the others, (record,) (Zhang et al. 2023, Eq. 2).

    Raises AuditError where fewer than 2 models were trained with a record, or without it.
    """
    return gap_statistics(signals, membership).delta


def agreement(signals: Array, membership: Mask, rng: np.random.Generator, **options: Any) -> Estimate:
    """Spearman correlation over records of global LiRA with counterfactual memorization (Appendix A.3: over .75)."""
    pair = attack_success(signals, membership), counterfactual_memorization(signals, membership)
    return rank_correlation(*pair, rng, **options)
