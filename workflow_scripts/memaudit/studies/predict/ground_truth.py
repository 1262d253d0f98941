"""Ground truth of memorization from shadow models: log-LiRA per target, global LiRA, counterfactual memorization.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 and 5.1, Definitions 3 and 4, Appendix
A.3. Signals are logit gaps, the label's logit minus the largest other one (Appendix C).
"""

from typing import Any

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.gaussian import least_shadows
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.intervals import clopper_pearson
from memaudit.statistics.rank_correlation import rank_correlation
from memaudit.statistics.record_vulnerability import gap_statistics

ATTAINABLE = 0.75  # the correlation that the paper states; below, it cannot be judged


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


def agreement(
    signals: Array, membership: Mask, second: Mask, rng: np.random.Generator, **options: Any
) -> list[Estimate]:
    """Spearman correlation over records of global LiRA with counterfactual memorization (Appendix A.3: over .75).

    And the largest that so few models let one see: two quantities with errors of their own correlate at most with the
    root of the product of their reliabilities. These are correlations of two halves of the models, each with its own
    LiRA and its own mean gaps, stepped up to all models (Spearman 1910, Brown 1910). second: see `halves`; without
    halves there is the first alone.
    """
    found = rank_correlation(
        attack_success(signals, membership), counterfactual_memorization(signals, membership), rng, **options
    )
    if not can_be_halved(membership, second):
        return [found]
    reliable = [
        rank_correlation(*(measure(signals[half], membership[half]) for half in (~second, second)), rng, **options)
        for measure in (attack_success, counterfactual_memorization)
    ]
    ends = [
        np.sqrt(np.prod([_stepped_up(getattr(one, end)) for one in reliable])) for end in ("estimate", "low", "high")
    ]
    method = "root of the product of split-half reliabilities, ends from those of both correlations"
    return [found, Estimate("spearman attainable", *map(float, ends), found.n, method, ATTAINABLE)]


def _stepped_up(correlation: float) -> float:
    """Reliability of a whole from the correlation of its halves (Spearman and Brown); 0 for a negative one."""
    return 2 * max(correlation, 0.0) / (1 + max(correlation, 0.0))


def can_be_halved(membership: Mask, second: Mask) -> bool:
    """Whether LiRA can be fitted to either half of the models (model, record) alone."""
    return all(len(half) and least_shadows(half).min() >= 2 for half in (membership[~second], membership[second]))


def halves(signals: Array, membership: Mask, second: Mask, targets: int) -> tuple[Array, Array] | None:
    """Log-LiRA of the first `targets` models, (target, record), by either half of the other models.

    second: (model,) whether a model is in the second half, as `membership_matrices.balanced` has blocks. No model but
    the target is in both halves, so that the agreement of both shows how stable the truth is, at half of the models.
    None where LiRA cannot be fitted to both halves: too few models, or a record with too few of one side in a half.
    """
    if not can_be_halved(membership, second):
        return None
    split = []
    for half in (np.flatnonzero(~second), np.flatnonzero(second)):
        of_target = []
        for target in range(targets):
            used = np.concatenate([[target], half[half != target]])
            of_target.append(log_lira(signals[used], membership[used])[0])
        split.append(np.array(of_target))
    return split[0], split[1]


def ambiguity(signals: Array, membership: Mask, chosen: Mask) -> Estimate:
    """Share of the chosen records (record,) that most of the models without them take for another class.

    Their label is ambiguous, wrong or rare: nothing but memory can fit it. 95 % interval of a share of records (Clopper
    and Pearson's); NaN for a record that every model was trained on.
    """
    wrong = np.where(membership, np.nan, signals < 0)[:, chosen]
    ambiguous = np.nanmean(wrong, axis=0) > 0.5
    share, count = float(ambiguous.mean()), len(ambiguous)
    ends = clopper_pearson(share * count, count)
    return Estimate("label ambiguity", share, *ends, count, "Clopper and Pearson's interval over records", 0.0)
