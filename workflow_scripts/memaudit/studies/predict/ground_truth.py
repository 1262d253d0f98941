"""Was memorization foretold? Ground truth from shadow models, and what predictors made of it early in training.

papers/predicting-memorization.md, Sections 4.2, 5 and Appendices A and D. Signals are logit gaps, the label's logit
less the largest other (Appendix C). Predictors are judged on the target's own training records alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Codes, Mask
from memaudit.attacks.calibrate import calibrate
from memaudit.errors import AuditError
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import Estimate, interpolated
from memaudit.statistics.intervals import wilson
from memaudit.statistics.paired_differences import gaps
from memaudit.statistics.rank_correlation import rank_correlation
from memaudit.statistics.record_vulnerability import gap_statistics

MEMORIZED = 4.0  # Definition 3: least log-LiRA
DROP = 0.95  # of the median training loss, at which training is interrupted
PSMI_THRESHOLD = 0.0  # Table 1, of minus PSMI
FPRS = (0.01, 0.1)
TPRS = (0.75, 0.9)  # the paper looks where most of the memorized are found


def log_lira(signals: Array, design: Mask, targets: int = 1, **options: Any) -> Array:
    """log p_in - log p_out of the first `targets` models, all others as their shadow models, (target, record).

    Definition 3 at the end of training; at the prediction's checkpoint the baseline (Biderman et al., Section 5.1).
    signals, design: (model, record); options: see `attacks.lira.log_likelihood_ratio`. Fits leave out the target
    alone, as published: only members are judged, so there is no bias against others that fits without pairs would mend.
    """
    return calibrate(signals, design, "lira", targets=targets, **{"leave": "self", **options})


def attack_success(signals: Array, design: Mask, **options: Any) -> Array:
    """Share of models for which LiRA tells right, a tie is not, whether they knew the record, (record,): global LiRA
    (Definition 4). The authors' code fits with the target's own value; here it is left out."""
    scores = calibrate(signals, design, "lira", **options)
    return (np.where(design, scores, -scores) > 0).mean(0)


def counterfactual_memorization(signals: Array, design: Mask) -> Array:
    """Mean signal of models that knew the record less that of those that did not, (record,) (Zhang et al. 2023, Eq. 2).

    Raises AuditError where a side has fewer than 2 models.
    """
    return gap_statistics(signals, design).delta


def agreement(signals: Array, design: Mask, rng: np.random.Generator, **options: Any) -> Estimate:
    """Spearman correlation over records of global LiRA with counterfactual memorization (Appendix A.3: over .75)."""
    pair = attack_success(signals, design), counterfactual_memorization(signals, design)
    return rank_correlation(*pair, rng, **options)


def memorized_share(lira: Array, judged: "Cells", threshold: float = MEMORIZED) -> Estimate:
    """Share of the cells whose log-LiRA (target, record) reaches the threshold, with its 95 % interval.

    null: the same share of the records that were *not* in the target's training set. A Gaussian ratio of 4 nats would
    be rare by chance; that of fits on a few models is not. Where 16 models know nothing, 1.4 % of members reach 4 nats
    and 1.9 % of non-members, as a fit leaves out the target on one side: a null that is a little too high.
    """
    hits, others = lira >= threshold, np.ones(lira.shape, bool)
    others[judged.target, judged.record] = False
    found = _mean(hits[judged.target, judged.record].astype(float), np.ones(len(judged.record), bool), judged)
    found = _widened(found, judged.group)
    method = f"{found.method}; null: non-members"
    null = float(hits[others].mean()) if others.any() else np.nan
    return replace(found, metric="memorized", method=method, null=null)


@dataclass(frozen=True)
class Interruption:
    """drops: (checkpoint,) fall of the median training loss since the first, as a share of it; first: the first
    checkpoint where it reaches the wanted drop, None if it never does; closest: the one nearest to it (Appendix E).
    Neither is the last checkpoint, where there is nothing left to foretell."""

    drops: Array
    first: int | None
    closest: int


def interruption(losses: Array, drop: float = DROP) -> Interruption:
    """Where to interrupt training. losses: (checkpoint, record) of the training records, 2 checkpoints or more, the
    first before training. Raises AuditError where the first median is no positive number.
    """
    medians = np.median(losses, axis=1)
    if not medians[0] > 0:
        raise AuditError(f"interruption: the median loss before training is {medians[0]:g}; it cannot fall by a share")
    drops = 1 - medians / medians[0]
    before = drops[:-1]
    reached = np.flatnonzero(before >= drop)
    return Interruption(drops, int(reached[0]) if reached.size else None, int(np.argmin(np.abs(before - drop))))


def false_positive_rate(precision: float, recall: float, prevalence: float) -> float:
    """FPR of a prediction known by precision and recall: TPR P / N (1 / precision - 1) (Appendix D, Eq. 27 to 29).

    prevalence: P / (P + N). Raises AuditError unless precision is positive and prevalence below 1.
    """
    if not (0 < precision <= 1 and 0 <= recall <= 1 and 0 <= prevalence < 1):
        raise AuditError(
            f"precision {precision:g}, recall {recall:g}, prevalence {prevalence:g}: no FPR follows; all must lie in"
            " [0, 1], precision above 0 and prevalence below 1"
        )
    return recall * prevalence / (1 - prevalence) * (1 / precision - 1)


@dataclass(frozen=True)
class Cells:
    """The cells that are judged, target by target: whether they are memorized, and how often each replicate drew them.

    target, record, group: (cell,) where each stands; memorized: (cell,); weights: (replicate, cell).
    """

    target: NDArray[np.intp]
    record: NDArray[np.intp]
    group: Codes
    memorized: Mask
    weights: Array

    @property
    def both(self) -> bool:
        """Whether there are memorized cells and others."""
        return bool(self.memorized.any() and not self.memorized.all())

    @property
    def method(self) -> str:
        """How intervals are made."""
        return f"two-way bootstrap over targets and records, {len(self.weights)} replicates" + (
            "" if self.both else "; all cells of one class: not defined"
        )


def cells(
    memorized: Mask, member: Mask, rng: np.random.Generator, *, groups: Codes | None = None, replicates: int = 200
) -> Cells:
    """Members of each target, resampled over records and, where there are several, over targets.

    memorized, member: (target, record); groups: (record,) records that are resampled together. One rng state gives one
    set of weights: predictors that are judged on the same cells are compared under common weights. With about ten
    memorized records 86 of 100 intervals of the AUC covered it, with about twenty 93.
    """
    if memorized.shape != member.shape or not member.any():
        raise AuditError(
            f"prediction: {memorized.shape} memorized and {member.shape} members, {int(member.sum())} in all; both must"
            " be (target, record), with members"
        )
    target, record = np.nonzero(member)
    groups = np.arange(member.shape[1]) if groups is None else groups
    drawn = bootstrap.two_way_weights(*member.shape, replicates, rng, groups)
    return Cells(target, record, groups[record], memorized[member], drawn.models[:, target] * drawn.records[:, record])


def judge(
    predictors: Mapping[str, Array],
    judged: Cells,
    *,
    reference: str | None = None,
    fprs: Sequence[float] = FPRS,
    tprs: Sequence[float] = TPRS,
) -> dict[str, list[Estimate]]:
    """AUC, "tpr@FPR" and "fpr@tprTPR" of each predictor, with 95 % intervals; by the predictor's name.

    predictors: scores (target, record), higher = more likely to be memorized. reference: a predictor from whose metrics
    those of the others are subtracted too, under common weights ("auc difference"). All is NaN where all cells are of
    one class, as at the ends of a sweep over log-LiRA thresholds.
    """
    names = ["auc", *(f"tpr@{fpr:g}" for fpr in fprs), *(f"fpr@tpr{tpr:g}" for tpr in tprs)]
    notes = [*interpolated(judged.memorized, fprs), *([""] * len(tprs))]
    chance, size = [0.5, *fprs, *tprs], len(judged.memorized)
    samples = {name: _metrics(scores, judged, fprs, tprs) for name, scores in predictors.items()}
    found = {
        name: [
            Estimate(metric, float(one), *bootstrap.interval(drawn), size, judged.method + note, null)
            for metric, note, null, one, drawn in zip(names, notes, chance, values[0], values[1:].T, strict=True)
        ]
        for name, values in samples.items()
    }
    positives = judged.group[judged.memorized]
    for estimates in found.values():
        estimates[1 : 1 + len(fprs)] = [_widened(tpr, positives) for tpr in estimates[1 : 1 + len(fprs)]]
    for name in samples.keys() - {reference} if reference else ():
        more = samples[name] - samples[reference]
        found[name] += gaps(names, more[0], more[1:], size)
    return found


def roc_band(scores: Array, judged: Cells, fprs: Array) -> Array:
    """TPR at each FPR with its 95 % interval, (fpr, 3), for `judge.curve_rows`; scores: (target, record)."""
    values = _metrics(scores, judged, fprs, ())[:, 1:]
    return np.array([(one[0], *bootstrap.interval(one[1:])) for one in values.T])


def means(values: Array, judged: Cells) -> tuple[Estimate, Estimate]:
    """Mean of the memorized cells, and of the others, with 95 % intervals; values: (target, record).

    n: cells. null: the mean of all, which both have where the values say nothing of memorization.
    """
    values = values[judged.target, judged.record]
    one, other = (_mean(values, side, judged) for side in (judged.memorized, ~judged.memorized))
    return one, other


def error_rates(scores: Array, judged: Cells, threshold: float) -> tuple[Estimate, Estimate]:
    """TPR and FPR where a record is flagged if its score reaches the threshold, with 95 % intervals; see `means`."""
    found = means((scores >= threshold).astype(float), judged)
    sides = judged.memorized, ~judged.memorized
    named = zip(found, ("tpr", "fpr"), sides, strict=True)
    tpr, fpr = (_widened(replace(rate, metric=metric), judged.group[side]) for rate, metric, side in named)
    return tpr, fpr


def flags(scores: Array, judged: Cells, threshold: float) -> tuple[Estimate, Estimate]:
    """Precision of such a flag, and prevalence: shares of the flagged cells, and of all, that are memorized.

    The null of the precision is the prevalence. With no flag, NaN.
    """
    flagged, truth = scores[judged.target, judged.record] >= threshold, judged.memorized.astype(float)
    precision = _widened(replace(_mean(truth, flagged, judged), metric="precision"), judged.group[flagged])
    prevalence = replace(_mean(truth, np.ones_like(flagged), judged), metric="prevalence", null=np.nan)
    return precision, prevalence


def _mean(values: Array, side: Mask, judged: Cells) -> Estimate:
    """Mean of cells (cell,) on one side; null: of all."""
    weights = np.vstack([np.ones(len(side)), judged.weights]) * side
    with np.errstate(invalid="ignore"):
        found = (weights @ values) / weights.sum(1)
    ends = bootstrap.interval(found[1:])
    return Estimate("mean", float(found[0]), *ends, int(side.sum()), judged.method, float(values.mean()))


def _widened(rate: Estimate, groups: Codes) -> Estimate:
    """A share with an interval at least as wide as Wilson's for as many distinct records (of groups): of a share near 0
    or 1 of a few cells a bootstrap has next to none."""
    if np.isnan(rate.estimate) or not len(groups):
        return rate
    low, high = wilson(rate.estimate, len(np.unique(groups)))
    method = rate.method + ", and at least as wide as Wilson's interval"
    return replace(rate, low=float(np.fmin(rate.low, low)), high=float(np.fmax(rate.high, high)), method=method)


@dataclass(frozen=True)
class Setting:
    """A line of Table 1, and how it did: a predictor for whom, flagging from which score on, with what TPR and FPR.

    chosen: how the threshold came about.
    """

    profile: str
    predictor: str
    threshold: float
    chosen: str
    rates: tuple[Estimate, Estimate]
    layer: str = "last"

    def facts(self) -> dict[str, Any]:
        """The setting as JSON, as `predict_rank_own` reads it."""
        parts = ("estimate", "low", "high", "n")
        rates = {rate.metric: {part: getattr(rate, part) for part in parts} for rate in self.rates}
        keys = ("profile", "predictor", "threshold", "chosen", "layer")
        return {key: getattr(self, key) for key in keys} | rates | {"method": self.rates[0].method}


def recommended(psmi: Array, loss: Array, judged: Cells, rng: np.random.Generator) -> list[Setting]:
    """Table 1, measured: PSMI at its own threshold for practitioners, the loss at an optimised one for researchers.

    psmi, loss: (target, record) scores, higher = more likely to be memorized. The threshold of the loss has the largest
    TPR - FPR on a random half of the records (of the groups), and is judged on the other half. Where a half has no
    memorized record, or no other, nothing can be optimised, and there is the first line alone.
    """
    rates = error_rates(psmi, judged, PSMI_THRESHOLD)
    practitioners = Setting("practitioners", "psmi", PSMI_THRESHOLD, "fixed", rates)
    groups = rng.permutation(np.unique(judged.group))
    half = np.isin(judged.group, groups[: len(groups) // 2])
    chosen_on, judged_on = (_only(judged, half == side) for side in (True, False))
    if not (chosen_on.both and judged_on.both):
        return [practitioners]
    ranking = roc.rank(loss[chosen_on.target, chosen_on.record], chosen_on.memorized)
    fpr, tpr = roc.curve(ranking)
    last = ranking.order[ranking.ends[max(int(np.argmax(tpr - fpr)) - 1, 0)]]
    threshold = float(loss[chosen_on.target, chosen_on.record][last])
    researchers = Setting("researchers", "loss", threshold, "on other records", error_rates(loss, judged_on, threshold))
    return [practitioners, researchers]


def _only(judged: Cells, kept: Mask) -> Cells:
    of_cell = (getattr(judged, name)[kept] for name in ("target", "record", "group", "memorized"))
    return Cells(*of_cell, judged.weights[:, kept])


def _metrics(scores: Array, judged: Cells, fprs: Sequence[float] | Array, tprs: Sequence[float]) -> Array:
    """AUC, TPR at each FPR, FPR at each TPR: (1 + replicate, metric), as observed first."""
    weights = np.vstack([np.ones(len(judged.memorized)), judged.weights])
    if not judged.both:
        return np.full((len(weights), 1 + len(fprs) + len(tprs)), np.nan)
    ranking = roc.rank(scores[judged.target, judged.record], judged.memorized)
    values = []
    for drawn in weights[:, ranking.order]:
        fpr, tpr = roc.curve(ranking, drawn)
        if np.isnan(tpr[-1] + fpr[-1]):  # none memorized was drawn, or no other
            values.append(np.full(1 + len(fprs) + len(tprs), np.nan))
            continue
        # Seen from the other corner the curve says which TNR is had at an FNR.
        tnrs = roc.at_fpr((1 - tpr)[::-1], (1 - fpr)[::-1], 1 - np.asarray(tprs, dtype=float))
        values.append([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs), *(1 - tnrs)])
    return np.array(values)
