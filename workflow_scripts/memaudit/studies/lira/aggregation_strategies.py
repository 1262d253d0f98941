"""Six ways to aggregate a score matrix into a TPR at a given FPR (Jälkö et al. 2026, Section 6.1), and a seventh."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from memaudit.arrays import Array, Array32, Mask
from memaudit.attacks.gaussian import least_shadows
from memaudit.attacks.lira import fitted_blocks, record_blocks
from memaudit.errors import AuditError
from memaudit.statistics.bootstrap import (
    Weights,
    interval,
    per_record_tpr,
    pooled_tpr,
    rate,
    two_way_weights,
    weighted_quantiles,
)
from memaudit.statistics.student_t import BinnedSquares, exact_threshold
from memaudit.workflow.progress_bar import steps

FPRS = (0.1, 0.01, 0.001)
STRATEGIES = {
    "naive": "concatenated log-likelihood ratios, threshold: their empirical OUT quantile",
    "pp": "concatenated post-processed signals, threshold: their empirical OUT quantile",
    "pp_normal": "concatenated post-processed signals, threshold: the normal quantile",
    "pp_t": "concatenated post-processed signals, threshold: Student's t fitted to the OUT values of these models",
    "per_sample": "log-likelihood ratios, threshold: every record's empirical OUT quantile, mean over records",
    "per_sample_normal": "post-processed signals, threshold: the normal quantile, mean over records",
    "pp_exact": "post-processed with ddof 1, threshold t_{n-1} sqrt(1 + 1/n) for n OUT shadow models: nothing fitted",
}
ON_RATIO = {"naive", "per_sample"}
MEAN_OVER_RECORDS = {"per_sample", "per_sample_normal"}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class Samples:
    """Bootstrap replicates, (replicate,) each, of an outcome's numbers. Those of one number of models are paired.

    tpr, realised_fpr: two-way; fpr_spread (95 % less 5 % quantile of FPR_x), share_above_twice: over records.
    """

    tpr: Array
    realised_fpr: Array
    fpr_spread: Array
    share_above_twice: Array


@dataclass(frozen=True)
class Outcome:
    """One strategy at one number of models and one nominal FPR.

    tpr: over IN cells alone (Eq. 26 sums all cells), realised_fpr: over OUT cells; means over records for the
    per-sample strategies. low, high: 95 % two-way bootstrap of tpr. threshold: NaN where cells differ in it. records:
    evaluated; left_out: with fewer than 2 shadow models on one side among these models. fpr_quantiles: of FPR_x over
    records, at `QUANTILES`; share_above_twice: share of records with FPR_x > 2 fpr; fpr_per_record: FPR_x of every
    record of the grid (NaN: left out), where asked for. enough_models: the paper's rule, M >= 2 / fpr; its code's,
    M >= 1 / fpr, decides whether "per_sample" is there.
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
class Cells:
    """Scores of every target, (record, model) so that a record's cells lie together.

    ratio: log-likelihood ratios; standard: post-processed signals; member: True = IN; shadows: (record,) OUT models of
    the fits, one more than an OUT target meets; kept: (record,) places in the grid of the records with enough shadow
    models, left_out: how many others there are.
    """

    ratio: Array32
    standard: Array32
    member: Mask
    shadows: NDArray[np.int64]
    kept: NDArray[np.int64]
    left_out: int

    def of(self, strategy: str) -> Array32:
        """The score that a strategy thresholds."""
        return self.ratio if strategy in ON_RATIO else self.standard

    def first(self, models: int) -> "Cells":
        """The same fits, the first models alone as targets."""
        return replace(
            self, ratio=self.ratio[:, :models], standard=self.standard[:, :models], member=self.member[:, :models]
        )

    def blocks(self) -> Iterator[slice]:
        """Slices of records that fit a core's cache."""
        return record_blocks(*self.member.shape)


def evaluate(
    signals: NDArray[np.floating],
    design: Mask,
    sizes: Sequence[int],
    *,
    fprs: Sequence[float] = FPRS,
    oracle: bool = False,
    keep_fpr: bool = False,
    floor: float = 0.0,
    replicates: int = 0,
    rng: np.random.Generator | None = None,
    groups: NDArray[np.int64] | None = None,
) -> list[Outcome]:
    """Every strategy on the first M models, for every M of `sizes` and every FPR of `fprs`.

    signals, design: (model, record). Fits leave the target alone out, by the paper's convention (mean, ddof 0). oracle:
    fits on *all* other models of the grid (section A.1). floor: least sigma, for discrete signals. replicates: of the
    two-way bootstrap behind low and high, 0: none; scores, fits and fitted degrees of freedom are held, empirical
    thresholds are taken anew in each. groups: (record,) records that are resampled together. Scores are float32 (their
    fits float64): two arrays of the grid's shape stand beside it. Raises AuditError for a size beyond the grid, or
    where more than a tenth of the records has too few shadow models.
    """
    if sizes and not 0 < min(sizes) <= max(sizes) <= len(design):
        raise AuditError(f"sizes {list(sizes)} were asked for and the grid has {len(design)} models: lower them")
    whole = score(signals, design, floor) if oracle else None

    def at(models: int) -> list[Outcome]:
        # One size's scores are gone before the next size's are made.
        cells = whole.first(models) if whole else score(signals[:models], design[:models], floor)
        weights = None
        if replicates:
            related = None if groups is None else groups[cells.kept]
            weights = two_way_weights(models, len(cells.kept), replicates, rng, related)
        return _outcomes(cells, fprs, keep_fpr, weights)

    return [outcome for models in steps(sizes, "numbers of models") for outcome in at(models)]


def score(signals: NDArray[np.floating], design: Mask, floor: float = 0.0) -> Cells:
    """Log-likelihood ratio and post-processed signal of every model as target, in blocks of records."""
    kept = np.flatnonzero(least_shadows(design) >= 2)
    if len(kept) < (1 - MOST_LEFT_OUT) * design.shape[1]:
        raise AuditError(
            f"{design.shape[1] - len(kept)} of {design.shape[1]} records have fewer than 2 shadow models on one side"
            f" among {len(design)} models: raise lira.models"
        )
    shape = (len(kept), len(design))
    ratio, standard = np.empty(shape, np.float32), np.empty(shape, np.float32)
    member = np.empty(shape, np.bool_)
    for block in fitted_blocks(signals, design, floor=floor, leave="self", records=kept, order="F"):
        ratio[block.records], member[block.records] = block.ratio.T, block.member.T
        direction = np.sign(block.inside.centre - block.outside.centre)
        standard[block.records] = (direction * block.outside.standardise(block.values)).T
    return Cells(ratio, standard, member, (~member).sum(1), kept, design.shape[1] - len(kept))


def thresholds(cells: Cells, fprs: Sequence[float]) -> dict[tuple[str, float], NDArray[np.float64]]:
    """Threshold of every strategy and FPR: (), (record, 1), or (record, 2) where OUT and IN targets have their own."""
    models = cells.member.shape[1]
    naive, pooled = pooled_quantiles(cells, "naive", fprs), pooled_quantiles(cells, "pp", fprs)
    freedom = out_freedom(cells)
    shadows = cells.shadows[:, None] - [1, 0]
    of = {}
    for i, fpr in enumerate(fprs):
        of["naive", fpr], of["pp", fpr] = naive[i], pooled[i]
        of["pp_normal", fpr] = of["per_sample_normal", fpr] = np.float64(norm.ppf(1 - fpr))
        of["pp_t", fpr] = np.float64(t.ppf(1 - fpr, freedom))
        # The signals are standardised with ddof 0; the exact threshold is for ddof 1.
        of["pp_exact", fpr] = exact_threshold(fpr, shadows) * np.sqrt(shadows / (shadows - 1))
    enough = [fpr for fpr in fprs if models * fpr >= 1 - 1e-9]
    for fpr, column in zip(enough, record_quantiles(cells, enough).T, strict=True):
        of["per_sample", fpr] = column[:, None]
    return of


def pooled_quantiles(cells: Cells, strategy: str, fprs: Sequence[float]) -> Array:
    """The (1 - fpr) quantiles of all OUT scores, linear between neighbours."""
    scores = cells.of(strategy)
    outside = np.empty(cells.member.size - np.count_nonzero(cells.member), np.float32)
    start = 0
    for block in cells.blocks():
        values = scores[block][~cells.member[block]]
        outside[start : (start := start + len(values))] = values
    place = (len(outside) - 1) * (1 - np.asarray(fprs))
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(outside) - 1)
    outside.partition(np.unique([low, high]))
    return _between(outside[low], outside[high], place - low)


def record_quantiles(cells: Cells, fprs: Sequence[float]) -> Array:
    """The (1 - fpr) quantiles of every record's OUT log-likelihood ratios: (record, fpr); NaN without OUT targets."""
    quantiles = np.empty((len(cells.member), len(fprs)))
    for block in cells.blocks():
        # IN cells sort behind all others and are never reached.
        ordered = np.sort(np.where(cells.member[block], np.float32(np.inf), cells.ratio[block]), axis=1)
        count = (~cells.member[block]).sum(1, keepdims=True)
        place = np.maximum(count - 1, 0) * (1 - np.asarray(fprs))
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(count - 1, 0))
        low_value, high_value = np.take_along_axis(ordered, low, 1), np.take_along_axis(ordered, high, 1)
        quantiles[block] = np.where(count > 0, _between(low_value, high_value, place - low), np.nan)
    return quantiles


def _between(low: Array32, high: Array32, share: Array) -> Array:
    low = low.astype(np.float64)
    return low + share * (high - low)


def out_freedom(cells: Cells) -> float:
    """Degrees of freedom of Student's t (location 0, scale 1) on these models' OUT post-processed signals."""
    squares = BinnedSquares()
    for block in cells.blocks():
        squares.add(cells.standard[block][~cells.member[block]])
    return squares.degrees_of_freedom()


def exceed(scores: Array32, threshold: NDArray[np.float64], member: Mask) -> Mask:
    """scores > threshold, strictly, at float32's pace: x > T is x > the largest float32 not above T."""
    with np.errstate(over="ignore"):
        single = np.asarray(threshold).astype(np.float32)
    single = np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)
    if single.ndim == 2 and single.shape[1] == 2:
        single = np.where(member, single[:, 1:], single[:, :1])
    return scores > single


def _outcomes(cells: Cells, fprs: Sequence[float], keep_fpr: bool, weights: Weights | None) -> list[Outcome]:
    of = thresholds(cells, fprs)
    hits = {key: np.empty((2, len(cells.member)), np.int64) for key in of}
    for block in cells.blocks():
        member = cells.member[block]
        for (strategy, fpr), threshold in of.items():
            rows = threshold if threshold.ndim == 0 else threshold[block]
            above = exceed(cells.of(strategy)[block], rows, member)
            inside = (above & member).sum(1)
            hits[strategy, fpr][:, block] = inside, above.sum(1) - inside
    inside = cells.member.sum(1)
    count = np.stack([inside, cells.member.shape[1] - inside])
    return [
        _outcome(cells, key, of[key], hits[key], count, keep_fpr, weights) for key in sorted(of, key=_table_order(fprs))
    ]


def _table_order(fprs: Sequence[float]):
    return lambda key: (list(fprs).index(key[1]), list(STRATEGIES).index(key[0]))


def _outcome(cells, key, threshold, hits, count, keep_fpr, weights) -> Outcome:
    strategy, fpr = key
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = hits / count
    tpr, realised = np.nanmean(rates, 1) if strategy in MEAN_OVER_RECORDS else hits.sum(1) / count.sum(1)
    per_record = rates[1][count[1] > 0]
    samples = _samples(cells, key, threshold, rates[1], float(tpr), weights) if weights else None
    low, high = interval(samples.tpr) if samples else (np.nan, np.nan)
    return Outcome(
        strategy,
        cells.member.shape[1],
        fpr,
        float(tpr),
        float(realised),
        float(threshold) if threshold.ndim == 0 else np.nan,
        len(cells.member),
        cells.left_out,
        tuple(np.quantile(per_record, QUANTILES).tolist()),
        float((per_record > 2 * fpr).mean()),
        cells.member.shape[1] * fpr >= 2 - 1e-9,
        low,
        high,
        samples,
        _in_grid(rates[1], cells) if keep_fpr else None,
    )


def _in_grid(values: Array, cells: Cells) -> Array:
    whole = np.full(len(cells.kept) + cells.left_out, np.nan)
    whole[cells.kept] = values
    return whole


def _samples(cells: Cells, key, threshold: Array, fpr_x: Array, tpr: float, weights: Weights) -> Samples:
    strategy, fpr = key
    scores, outside, per_record = cells.of(strategy), ~cells.member, strategy in MEAN_OVER_RECORDS
    above = exceed(scores, threshold, cells.member)
    if strategy in ("naive", "pp"):
        sampled = pooled_tpr(scores, cells.member, fpr, weights)
    elif strategy == "per_sample":
        # Quantiles of few values are biased in a resample with its repeats: the replicates' mean is moved back.
        sampled = per_record_tpr(scores, cells.member, fpr, weights)
        sampled += tpr - np.nanmean(sampled)
    else:
        sampled = rate(above & cells.member, cells.member, weights, per_record=per_record)
    low, high = weighted_quantiles(fpr_x, weights.records, [0.05, 0.95]).T
    return Samples(
        sampled,
        rate(above & outside, outside, weights, per_record=per_record),
        high - low,
        weights.records @ (fpr_x > 2 * fpr) / weights.records.sum(1),
    )
