"""Ways to aggregate a score matrix into a TPR at a given FPR: six of Jälkö et al. 2026, Section 6.1, and two more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memaudit.common.arrays import Array, Codes, Floats, Indices, Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps
from memaudit.statistics.bootstrap import (
    Weights,
    quantiles,
    rate,
    two_way_interval,
    two_way_weights,
    weighted_quantiles,
)
from memaudit.statistics.quantile_replicates import per_record_tpr, pooled_tpr
from memaudit.studies.lira.strategy_scores import StrategyScores, crossfit_ratio, enough_shadows, halves, score
from memaudit.studies.lira.strategy_thresholds import (
    MEAN_OVER_RECORDS,
    STRATEGIES,
    exceed,
    has_models,
    rank_hits,
    scores_of,
    thresholds,
)

FPRS = (0.1, 0.01, 0.001)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
CROSSFIT = "per_sample_crossfit"


@dataclass(frozen=True)
class Samples:
    """Bootstrap replicates, (replicate,) each, of an outcome's numbers. Those of one number of models are paired.

    tpr, realised_fpr: two-way; fpr_spread (95 % less 5 % quantile of FPR_x), share_above_twice: over records. weights:
    of models and records.
    """

    tpr: Array
    realised_fpr: Array
    fpr_spread: Array
    share_above_twice: Array
    weights: Weights


@dataclass(frozen=True)
class Outcome:
    """One strategy at one number of models and one nominal FPR.

    tpr: over IN entries alone (Eq. 26 sums all entries), realised_fpr: over OUT entries; means over records for the
    per-sample strategies. low, high: 95 % two-way bootstrap of tpr. threshold: NaN where entries differ in it. records:
    evaluated; left_out: with fewer than 2 shadow models on one side among these models. fpr_quantiles: of FPR_x over
    records, at `QUANTILES`; share_above_twice: share of records with FPR_x > 2 fpr; fpr_per_record: FPR_x of every
    record of the matrix (NaN: left out), where requested. enough_models: the paper's rule, M >= 2 / fpr.
    """

    strategy: str
    models: int
    fpr: float
    tpr: float
    realised_fpr: float
    threshold: float
    records: int
    left_out: int
    fpr_quantiles: tuple[float, ...]
    share_above_twice: float
    enough_models: bool
    low: float = np.nan
    high: float = np.nan
    samples: Samples | None = None
    fpr_per_record: Array | None = None


@dataclass(frozen=True)
class Records:
    """One strategy on every record: what an outcome sums up.

    hits: (side, record) numbers of IN and OUT entries above the threshold; count: (side, record) of all entries.
    """

    strategy: str
    fpr: float
    threshold: float
    hits: Array
    count: Array
    kept: Indices

    @property
    def rates(self) -> Array:
        """TPR and FPR of every record, (side, record)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.hits / self.count

    @property
    def means(self) -> Array:
        """TPR and FPR: over all entries, or means over records."""
        if self.strategy in MEAN_OVER_RECORDS:
            return np.nanmean(self.rates, 1)
        return self.hits.sum(1) / self.count.sum(1)


def evaluate(
    signals: Floats,
    membership: Mask,
    sizes: Sequence[int],
    *,
    fprs: Sequence[float] = FPRS,
    oracle: bool = False,
    keep_fpr: bool = False,
    floor: float = 0.0,
    replicates: int = 0,
    rng: np.random.Generator | None = None,
    groups: Codes | None = None,
) -> list[Outcome]:
    """Every strategy on the first M models, for every M of `sizes` and every FPR of `fprs`.

    signals, membership: (model, record). Fits leave the target alone out, by the paper's convention (mean, ddof 0), or
    the target's half of the models ("per_sample_crossfit"). oracle: fits on *all* other models of the matrix (section
    A.1). floor: least sigma, for discrete signals. replicates: of the two-way bootstrap behind low and high, 0: none;
    scores, fits and fitted degrees of freedom are fixed, empirical thresholds are taken anew in each. groups: (record,)
    records that are resampled together. Scores are float32 (their fits float64): two arrays of the matrix's shape stand
    beside it. Raises AuditError for a size beyond the matrix, or where more than a tenth of the records has too few
    shadow models.
    """
    if sizes and not 0 < min(sizes) <= max(sizes) <= len(membership):
        raise AuditError(f"sizes {list(sizes)} were requested and there are {len(membership)} models: lower them")
    whole = score(signals, membership, floor) if oracle else None

    def at(models: int) -> list[Outcome]:
        # One size's scores are gone before the next size's are made.
        shown = slice(None) if oracle else slice(models)
        kept = enough_shadows(membership[shown])
        weights = None
        if replicates:
            related = None if groups is None else groups[kept]
            weights = two_way_weights(models, len(kept), replicates, rng, related)
        found = _crossfit(signals[shown], membership[shown], kept, models, fprs, floor, weights)
        scores = whole.first(models) if whole else score(signals[:models], membership[:models], floor)
        found += _leave_one_out(scores, fprs, weights)
        order = {name: place for place, name in enumerate(STRATEGIES)}
        found.sort(key=lambda pair: (list(fprs).index(pair[0].fpr), order[pair[0].strategy]))
        return [_outcome(*pair, models, membership.shape[1], keep_fpr) for pair in found]

    return [outcome for models in steps(sizes, "numbers of models") for outcome in at(models)]


def _crossfit(signals, membership, kept, models, fprs, floor, weights) -> list[tuple[Records, Samples | None]]:
    fprs = [fpr for fpr in fprs if has_models(CROSSFIT, models, fpr)]
    if not fprs:
        return []
    ratio = crossfit_ratio(signals, membership, kept, models, floor)
    member = membership[:models, kept].T
    found = []
    for fpr in fprs:
        hits, count = np.zeros((2, len(kept))), np.zeros((2, len(kept)))
        for half in halves(models):
            fitted = ~np.isnan(ratio[:, half.start])
            inside = member[fitted, half].sum(1)
            hits[:, fitted] += rank_hits(ratio[fitted, half], member[fitted, half], fpr)
            count[:, fitted] += inside, half.stop - half.start - inside
        records = Records(CROSSFIT, fpr, np.nan, hits, count, kept)
        sampled = weights and _crossfit_samples(records, ratio, member, weights)
        found.append((records, sampled))
    return found


def _crossfit_samples(records: Records, ratio: Array, member: Mask, weights: Weights) -> Samples:
    sampled = []
    for half in halves(member.shape[1]):
        fitted = ~np.isnan(ratio[:, half.start])
        of_half = Weights(weights.models[:, half], weights.records[:, fitted])
        sampled.append(per_record_tpr(ratio[fitted, half], member[fitted, half], records.fpr, of_half))
    # Its FPR is exact by construction: an OUT entry meets the rank of the others.
    exact = np.full(len(weights.models), records.means[1])
    return _samples(records, _centred(np.mean(sampled, 0), records.means[0]), exact, weights)


def _leave_one_out(scores: StrategyScores, fprs, weights) -> list[tuple[Records, Samples | None]]:
    of = thresholds(scores, fprs)
    hits = {key: np.empty((2, len(scores.member)), np.int64) for key in of}
    for block in scores.blocks():
        member = scores.member[block]
        for (strategy, fpr), threshold in of.items():
            rows = threshold if threshold.ndim == 0 else threshold[block]
            above = exceed(scores_of(scores, strategy)[block], rows, member)
            inside = (above & member).sum(1)
            hits[strategy, fpr][:, block] = inside, above.sum(1) - inside
    inside = scores.member.sum(1)
    count = np.stack([inside, scores.member.shape[1] - inside])
    found = []
    for (strategy, fpr), threshold in of.items():
        single = float(threshold) if threshold.ndim == 0 else np.nan
        records = Records(strategy, fpr, single, hits[strategy, fpr], count, scores.kept)
        found.append((records, weights and _threshold_samples(records, scores, threshold, weights)))
    return found


def _threshold_samples(records: Records, scores: StrategyScores, threshold: Array, weights: Weights) -> Samples:
    values, outside = scores_of(scores, records.strategy), ~scores.member
    per_record = records.strategy in MEAN_OVER_RECORDS
    above = exceed(values, threshold, scores.member)
    if records.strategy in ("naive", "pp"):
        sampled = pooled_tpr(values, scores.member, records.fpr, weights)
    elif records.strategy == "per_sample":
        sampled = _centred(per_record_tpr(values, scores.member, records.fpr, weights), records.means[0])
    else:
        sampled = rate(above & scores.member, scores.member, weights, per_record=per_record)
    return _samples(records, sampled, rate(above & outside, outside, weights, per_record=per_record), weights)


def _centred(sampled: Array, estimate: float) -> Array:
    """Replicates with the estimate as their mean: quantiles of few values are biased in a resample with its repeats."""
    return sampled + estimate - np.nanmean(sampled)


def _samples(records: Records, tpr: Array, realised: Array, weights: Weights) -> Samples:
    fpr_x, known = records.rates[1], records.count[1] > 0
    drawn = weights.records[:, known]
    low, high = weighted_quantiles(fpr_x[known], drawn, [0.05, 0.95]).T
    return Samples(tpr, realised, high - low, drawn @ (fpr_x[known] > 2 * records.fpr) / drawn.sum(1), weights)


def _outcome(records: Records, samples: Samples | None, models: int, of_matrix: int, keep_fpr: bool) -> Outcome:
    tpr, realised = records.means
    of_record = records.rates[1]
    known = of_record[records.count[1] > 0]
    whole = np.full(of_matrix, np.nan)
    whole[records.kept] = of_record
    low, high = two_way_interval(samples.tpr, float(tpr), samples.weights, 0, 1) if samples else (np.nan, np.nan)
    return Outcome(
        strategy=records.strategy,
        models=models,
        fpr=records.fpr,
        tpr=float(tpr),
        realised_fpr=float(realised),
        threshold=records.threshold,
        records=len(records.kept),
        left_out=of_matrix - len(records.kept),
        fpr_quantiles=tuple(quantiles(known, QUANTILES).tolist()),
        share_above_twice=float((known > 2 * records.fpr).mean()),
        enough_models=models * records.fpr >= 2 - 1e-9,
        low=low,
        high=high,
        samples=samples,
        fpr_per_record=whole if keep_fpr else None,
    )
