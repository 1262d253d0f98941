"""Metrics of memorization predictors over (target, record) entries, with two-way bootstrap intervals.

"Predicting memorization within LLMs fine-tuned for classification", Section 5 and Appendix D. Predictors are judged on
the target's own training records only.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics import bootstrap, roc, roc_segments
from memaudit.statistics.attack_performance import Estimate, interpolated
from memaudit.statistics.intervals import clopper_pearson, korn_graubard, mean_of
from memaudit.statistics.paired_differences import gaps

FPRS = (0.01, 0.1)
FEWEST_OF_CLASS = 10  # groups of memorized records, and of others, below which an AUC has no interval
CHANCE_SHARE = 0.2  # of what is called memorized may be chance
TPRS = (0.75, 0.9)  # the paper reports FPRs at high TPRs


@dataclass(frozen=True)
class Entries:
    """The (target, record) entries that are judged, whether they are memorized, and their bootstrap weights.

    target, record, group: (entry,) its place and the group of its record; memorized: (entry,); weights: (replicate,
    entry), how often each replicate drew it; targets: (replicate, target), how often it drew each target.
    """

    target: NDArray[np.intp]
    record: NDArray[np.intp]
    group: Codes
    memorized: Mask
    weights: Array
    targets: Array

    @property
    def both(self) -> bool:
        """Whether there are memorized entries and others."""
        return bool(self.memorized.any() and not self.memorized.all())

    def drawn(self, chosen: Mask) -> bootstrap.Weights:
        """Weights for `bootstrap.two_way_interval` of a mean over chosen entries (entry,), with their groups."""
        return bootstrap.Weights(self.targets, self._distinct, len(np.unique(self.group[chosen])))

    @cached_property
    def _distinct(self) -> Array:
        """Weights (replicate, entry) without repeated columns, at most one more than there are replicates.

        `bootstrap.two_way_interval` compares columns for every interval, and more of them change nothing.
        """
        most = len(self.weights) + 1
        for considered in (4 * most, self.weights.shape[1]):
            columns = np.unique(self.weights[:, :considered], axis=1)[:, :most]
            if columns.shape[1] == most:
                break
        return columns

    @property
    def drawn_of_rarer(self) -> bootstrap.Weights:
        """`drawn` for an AUC: the class with fewer groups decides how wide its interval is.

        For fewer than 10 groups there is none: of 6 memorized records it covers in 92 %.
        """
        sides = (self.drawn(side) for side in (self.memorized, ~self.memorized))
        drawn = min(sides, key=lambda drawn: drawn.units)
        # A single group is too few, too.
        return replace(drawn, units=max(drawn.units, 2), fewest=FEWEST_OF_CLASS)

    @property
    def enough(self) -> bool:
        """Whether an AUC of the entries has an interval: at least 10 groups memorized, and as many others."""
        sides = (self.group[side] for side in (self.memorized, ~self.memorized))
        return min(len(np.unique(groups)) for groups in sides) >= FEWEST_OF_CLASS

    @property
    def method(self) -> str:
        """Description of the intervals."""
        return f"two-way bootstrap over targets and records, {len(self.weights)} replicates" + (
            "" if self.both else "; all entries of one class: not defined"
        )

    def only(self, kept: Mask) -> "Entries":
        """Some of the entries; kept: (entry,)."""
        parts = (getattr(self, name)[kept] for name in ("target", "record", "group", "memorized"))
        return Entries(*parts, self.weights[:, kept], self.targets)


def member_entries(
    memorized: Mask, member: Mask, rng: np.random.Generator, *, groups: Codes | None = None, replicates: int = 200
) -> Entries:
    """Members of each target, resampled over records and, where there are several, over targets.

    memorized, member: (target, record); groups: (record,) records that are resampled together. One rng state gives one
    set of weights: predictors that are judged on the same entries are compared under common weights. Coverage:
    docs/coverage.md.
    """
    if memorized.shape != member.shape or not member.any():
        raise AuditError(
            f"prediction: {memorized.shape} memorized and {member.shape} members, {int(member.sum())} in all; both must"
            " be (target, record), with members"
        )
    target, record = np.nonzero(member)
    groups = np.arange(member.shape[1]) if groups is None else groups
    drawn = bootstrap.two_way_weights(*member.shape, replicates, rng, groups)
    weights = drawn.models[:, target] * drawn.records[:, record]
    return Entries(target, record, groups[record], memorized[member], weights, drawn.models)


def memorized_share(lira: Array, judged: Entries, others: Entries, threshold: float) -> Estimate:
    """Share of the entries whose log-LiRA (target, record) reaches the threshold, with its 95 % interval.

    The threshold of Definition 3 is 4.

    null: the same share of `others`, records that were *not* in the target's training set. Under Gaussian fits to many
    models a ratio of 4 nats is rare by chance; under fits to a few models it is not. Where 16 models memorize nothing,
    1.4 % of members and 1.9 % of non-members reach 4 nats, since leave-one-out removes the target from one of both
    fits: the null is slightly too high.
    """
    share = _mean(_reached(lira, judged, threshold), np.ones(len(judged.record), bool), judged)
    share = _widened(share, judged.group)
    null = float(_reached(lira, others, threshold).mean()) if len(others.record) else np.nan
    return replace(share, metric="memorized", method=f"{share.method}; null: non-members", null=null)


def beyond_chance(lira: Array, judged: Entries, others: Entries, threshold: float) -> Estimate:
    """Memorized share of the entries less five times that of `others`, which reach the threshold by chance.

    Above 0 at most a fifth of what is called memorized is chance: settings where the interval does not show it are not
    judged. Interval: MOVER from Korn and Graubard's intervals of both shares, since few entries reach the threshold;
    the shares, which have records in common, count as independent, which makes it conservative.
    """
    sides = judged, others
    drawn = [_averages(_reached(lira, one, threshold), np.ones(len(one.record), bool), one) for one in sides]
    observed = np.array([float(share[0]) for share in drawn])
    ends = np.array(
        [
            korn_graubard(share, float(np.var(of_side[1:])), len(side.group), len(np.unique(side.group)))
            for share, of_side, side in zip(observed, drawn, sides, strict=True)
        ]
    )
    factors = np.array([1, -1 / CHANCE_SHARE])
    scaled = ends * factors[:, None]
    difference, low, high = 2 * np.array(mean_of(factors * observed, scaled.min(1), scaled.max(1)))
    method = f"{judged.method}; MOVER from Korn and Graubard's intervals"
    return Estimate("memorized beyond chance", difference, low, high, len(judged.record), method, 0.0)


def _reached(lira: Array, entries: Entries, threshold: float) -> Array:
    return (lira[entries.target, entries.record] >= threshold).astype(float)


def false_positive_rate(precision: float, recall: float, prevalence: float) -> float:
    """FPR that follows from precision and recall: TPR P / N (1 / precision - 1) (Appendix D, Eq. 27 to 29).

    prevalence: P / (P + N). Raises AuditError unless precision is positive and prevalence below 1.
    """
    if not (0 < precision <= 1 and 0 <= recall <= 1 and 0 <= prevalence < 1):
        raise AuditError(
            f"precision {precision:g}, recall {recall:g}, prevalence {prevalence:g}: no FPR follows; all must lie in"
            " [0, 1], precision above 0 and prevalence below 1"
        )
    return recall * prevalence / (1 - prevalence) * (1 / precision - 1)


def judge(
    predictors: Mapping[str, Array],
    judged: Entries,
    *,
    reference: str | None = None,
    fprs: Sequence[float] = FPRS,
    tprs: Sequence[float] = TPRS,
) -> dict[str, list[Estimate]]:
    """AUC, "tpr@FPR" and "fpr@tprTPR" of each predictor, with 95 % intervals; by the predictor's name.

    predictors: scores (target, record), higher = more likely to be memorized. reference: a predictor whose metrics are
    also subtracted from those of the others, under common weights ("auc difference"). All is NaN where all entries are
    of one class, as at the ends of a sweep over log-LiRA thresholds.
    """
    names = ["auc", *(f"tpr@{fpr:g}" for fpr in fprs), *(f"fpr@tpr{tpr:g}" for tpr in tprs)]
    notes = [*interpolated(judged.memorized, fprs), *([""] * len(tprs))]
    chance, size = [0.5, *fprs, *tprs], len(judged.memorized)
    samples = {name: _metrics(scores, judged, fprs, tprs) for name, scores in predictors.items()}
    estimates = {
        name: [
            Estimate(
                metric,
                float(one),
                *bootstrap.two_way_interval(drawn, one, judged.drawn_of_rarer, 0, 1),
                size,
                judged.method + note,
                null,
            )
            for metric, note, null, one, drawn in zip(names, notes, chance, values[0], values[1:].T, strict=True)
        ]
        for name, values in samples.items()
    }
    positives = judged.group[judged.memorized]
    for of_predictor in estimates.values():
        of_predictor[1 : 1 + len(fprs)] = [_widened(tpr, positives) for tpr in of_predictor[1 : 1 + len(fprs)]]
    for name in samples.keys() - {reference} if reference else ():
        more = samples[name] - samples[reference]
        estimates[name] += gaps(names, more[0], more[1:], size, judged.drawn_of_rarer)
    return estimates


def roc_band(scores: Array, judged: Entries, fprs: Array) -> Array:
    """TPR at each FPR with its 95 % interval, (fpr, 3), for `attack_performance.curve_rows`; (target, record).

    At least as wide as Clopper and Pearson's, like the TPRs of `judge`; NaN for few memorized records.
    """
    values = _metrics(scores, judged, fprs, ())[:, 1:]
    drawn = judged.drawn_of_rarer
    distinct = len(np.unique(judged.group[judged.memorized]))
    bands = []
    for tpr, *samples in values.T:
        low, high = bootstrap.two_way_interval(np.array(samples), tpr, drawn, 0, 1)
        least, most = clopper_pearson(tpr * distinct, distinct)
        bands.append((tpr, np.minimum(low, least), np.maximum(high, most)))
    return np.array(bands)


def means(values: Array, judged: Entries) -> tuple[Estimate, Estimate]:
    """Means of the memorized entries and of the others, with 95 % intervals; values: (target, record).

    n: entries. null: the mean of all, which both have where the values are independent of memorization.
    """
    values = values[judged.target, judged.record]
    memorized, others = (_mean(values, chosen, judged) for chosen in (judged.memorized, ~judged.memorized))
    return memorized, others


def auc_samples(scores: Array, judged: Entries) -> Array:
    """AUC of scores (target, record), observed and of every replicate: (1 + replicate,)."""
    return _metrics(scores, judged, (), ())[:, 0]


def error_rates(scores: Array, judged: Entries, threshold: float) -> tuple[Estimate, Estimate]:
    """TPR and FPR if a record is flagged where its score reaches the threshold, with 95 % intervals; see `means`."""
    shares = means((scores >= threshold).astype(float), judged)
    classes = judged.memorized, ~judged.memorized
    named = zip(shares, ("tpr", "fpr"), classes, strict=True)
    tpr, fpr = (_widened(replace(rate, metric=metric), judged.group[chosen]) for rate, metric, chosen in named)
    return tpr, fpr


def flags(scores: Array, judged: Entries, threshold: float) -> tuple[Estimate, Estimate]:
    """Precision of such a flag, and prevalence: memorized shares of the flagged entries, and of all.

    The null of the precision is the prevalence. NaN without a flag.
    """
    flagged, truth = scores[judged.target, judged.record] >= threshold, judged.memorized.astype(float)
    precision = _widened(replace(_mean(truth, flagged, judged), metric="precision"), judged.group[flagged])
    prevalence = replace(_mean(truth, np.ones_like(flagged), judged), metric="prevalence", null=np.nan)
    return precision, prevalence


def _mean(values: Array, chosen: Mask, judged: Entries) -> Estimate:
    """Mean of values (entry,) over the chosen entries; null: the mean of all."""
    averaged = _averages(values, chosen, judged)
    drawn = judged.drawn(chosen)
    ends = bootstrap.two_way_interval(averaged[1:], averaged[0], drawn, values.min(), values.max())
    return Estimate("mean", float(averaged[0]), *ends, int(chosen.sum()), judged.method, float(values.mean()))


def _averages(values: Array, chosen: Mask, judged: Entries) -> Array:
    """Mean of values (entry,) over the chosen entries, observed and of every replicate: (1 + replicate,)."""
    weights = np.vstack([np.ones(len(chosen)), judged.weights]) * chosen
    with np.errstate(invalid="ignore"):
        return (weights @ values) / weights.sum(1)


def _widened(rate: Estimate, groups: Codes) -> Estimate:
    """A share with an interval at least as wide as Clopper and Pearson's for its number of distinct groups of records.

    The bootstrap interval of a share near 0 or 1 of a few entries is almost empty.
    """
    if np.isnan(rate.estimate) or not len(groups):
        return rate
    distinct = len(np.unique(groups))
    low, high = clopper_pearson(rate.estimate * distinct, distinct)
    method = rate.method + ", and at least as wide as Clopper and Pearson's interval"
    return replace(rate, low=float(np.fmin(rate.low, low)), high=float(np.fmax(rate.high, high)), method=method)


def _metrics(scores: Array, judged: Entries, fprs: Sequence[float] | Array, tprs: Sequence[float]) -> Array:
    """AUC, TPR at each FPR, FPR at each TPR: (1 + replicate, metric), the observed ones first."""
    if not judged.both:
        return np.full((1 + len(judged.weights), 1 + len(fprs) + len(tprs)), np.nan)
    weights = itertools.chain([np.ones(len(judged.memorized))], judged.weights)
    values = []
    for fpr, tpr in roc_segments.curves(scores[judged.target, judged.record], judged.memorized, weights):
        if np.isnan(tpr[-1] + fpr[-1]):  # no memorized entry was drawn, or no other
            values.append(np.full(1 + len(fprs) + len(tprs), np.nan))
            continue
        # The reversed curve gives the TNR at an FNR.
        tnrs = roc.at_fpr((1 - tpr)[::-1], (1 - fpr)[::-1], 1 - np.asarray(tprs, dtype=float))
        values.append([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs), *(1 - tnrs)])
    return np.array(values)
