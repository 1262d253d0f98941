"""Randomisation tests of pooled attack performance: membership is redrawn from its own scheme, for all records jointly.

Null hypothesis of the redraw: no record's membership has an effect on any signal. Given the signals, the observed
membership matrix and the redrawn ones (`data.membership_matrices.Scheme`) are then exchangeable, so that
p = (1 + number of redraws with a statistic at least as large) / (draws + 1) is exact for every statistic, number of
models and of records, whatever the signals' distribution (Fisher 1935; Phipson and Smyth 2010 for the + 1).

Weaker null hypothesis: a record's own membership has no effect on its own signal, but that of its companions in the
context may have. Given the companions, a single record's column is still uniform, so a single record's test is exact,
and each record's share of a pooled AUC has the right mean. But the shares are dependent: if two records shift each
other's signals, the product of their memberships enters both. Redraws with fixed signals do not have this dependence:
with mutual effects of two (three) records the AUC varies up to sqrt(2) (sqrt(3)) times as much as they do. The
statistic is therefore studentised: the excess over chance divided by its standard error over models, which are
independent and contain the dependence (Chung and Romano 2013; Wu and Ding 2021). The test stays exact under the first
null hypothesis, and is valid with many models under the second.

Size with and without effects of companions: docs/coverage.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.balanced_lira import BalancedLira
from memaudit.attacks.calibrate import Method, calibrate
from memaudit.common.arrays import Array, Floats, Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import roc
from memaudit.statistics.scorable_redraws import redraw

FEWEST_DRAWS = 19
FEWEST_MODELS = 5
ROUNDING = 1e-9  # equal statistics of single and double precision differ in their last digits


@dataclass(frozen=True)
class Null:
    """Metrics of redrawn membership matrices: (draw, metric), AUC first, then TPR at each FPR.

    p_values: (metric,) of the observed matrix, of studentised metrics; None: those of the metrics themselves.
    """

    fprs: tuple[float, ...]
    values: Array
    p_values: Array | None = None


class Entries(NamedTuple):
    """Scores of (model, record) entries in any order, with the membership, model and record of each, (entry,)."""

    scores: Floats
    member: Mask
    model: NDArray[np.integer]
    record: NDArray[np.integer]

    @classmethod
    def of(cls, scores: Array, membership: Mask) -> "Entries":
        """Entries of a score matrix (model, record)."""
        model, record = np.indices(scores.shape)
        return cls(scores.ravel(), membership.ravel(), model.ravel(), record.ravel())


def p_value(observed: Array, null: Array) -> Array:
    """Share of draws (draw, ...) that are no smaller than the observed (...), which counts as one more draw."""
    return (1 + np.count_nonzero(null >= observed - ROUNDING, axis=0)) / (len(null) + 1)


def group_nulls(
    signals: Array,
    membership: Mask,
    method: str | Method,
    groups: Mapping[Any, Mask],
    rng: np.random.Generator,
    draws: int,
    *,
    fprs: Sequence[float],
    scheme: Scheme = COLUMNS,
    units: NDArray[np.int64] | None = None,
    **options: Any,
) -> dict[Any, Null]:
    """`randomisation_null` of each group of records, from the same redraws of the whole matrix.

    groups: by name, which records belong to it (record,).
    """
    require_draws(draws, len(membership))
    of_groups: dict[Any, list[tuple[Array, Array]]] = {name: [] for name in groups}
    for draw in steps(range(draws + 1), "redrawn membership of groups"):
        member = redraw(scheme, membership, units, rng, list(groups.values())) if draw else membership
        scores = calibrate(signals, member, method, **options)
        for name, mask in groups.items():
            of_group = member[:, mask]
            entries = Entries.of(scores[:, mask], of_group)
            of_groups[name].append(pooled_metrics(entries, of_group, fprs, scheme))
    nulls = {}
    for name, drawn in of_groups.items():
        values, studentised = np.swapaxes(drawn, 0, 1)
        nulls[name] = Null(tuple(fprs), values[1:], p_value(studentised[0], studentised[1:]))
    return nulls


def randomisation_null(
    signals: Array,
    membership: Mask,
    method: str | Method,
    rng: np.random.Generator,
    draws: int,
    *,
    fprs: Sequence[float],
    scheme: Scheme = COLUMNS,
    units: NDArray[np.int64] | None = None,
    **options: Any,
) -> Null:
    """Metrics under redraws of the membership matrix, and p-values of the observed one by the studentised metrics.

    The scores are calibrated again for every redraw, with `method` and its options. units: (record,) records that are
    in together. Raises AuditError for fewer than 19 draws, whose p-value could not reach 0.05, or fewer than 5 models.
    """
    entries_of = _scorer(signals, membership, method, options)
    return null_of_entries(entries_of, membership, rng, draws, fprs=fprs, scheme=scheme, units=units, name=method)


def null_of_entries(
    entries_of: Callable[[Mask], Entries],
    membership: Mask,
    rng: np.random.Generator,
    draws: int,
    *,
    fprs: Sequence[float],
    scheme: Scheme = COLUMNS,
    units: NDArray[np.int64] | None = None,
    name: str | Method = "",
) -> Null:
    """`randomisation_null` of scores that `entries_of` makes from a membership matrix; name: for the progress bar."""
    require_draws(draws, len(membership))
    _, observed = pooled_metrics(entries_of(membership), membership, fprs, scheme)
    values, studentised = np.empty((2, draws, 1 + len(fprs)))
    for draw in steps(range(draws), f"redrawn membership, {name}"):
        redrawn = redraw(scheme, membership, units, rng)
        values[draw], studentised[draw] = pooled_metrics(entries_of(redrawn), redrawn, fprs, scheme)
    return Null(tuple(fprs), values, p_value(observed, studentised))


def require_draws(draws: int, models: int) -> None:
    """Raise AuditError where the redraws of a membership matrix cannot give p <= 0.05."""
    if draws < FEWEST_DRAWS or models < FEWEST_MODELS:
        raise AuditError(
            f"{draws} redraws of the membership of {models} models cannot give p <= 0.05: ask for at least"
            f" {FEWEST_DRAWS} redraws (`permutations`) of at least {FEWEST_MODELS} models"
        )


def pooled_metrics(
    entries: Entries, membership: Mask, fprs: Sequence[float], scheme: Scheme = COLUMNS
) -> tuple[Array, Array]:
    """AUC and TPR at each FPR over all entries, and the same studentised: (metric,) each.

    membership: (model, record). A metric's excess over chance is a sum over models: of the ranks, or of the shares
    above the threshold, of members less those of non-members. Studentised: divided by the standard error of that sum.
    Raises AuditError where one class is empty, or a score is not a number.
    """
    scores, member, model, record = entries
    if np.isnan(scores).any():
        raise AuditError(f"score {int(np.argmax(np.isnan(scores)))} (flattened) is not a number: fix the calibration")
    if member.all() or not member.any():
        raise AuditError("a pooled metric needs members and non-members: every entry here is of one class")
    order = _falling(scores)
    ranked, member, model, record = scores[order], member[order], model[order], record[order]
    inside = np.count_nonzero(member)
    outside = len(member) - inside
    tied = np.append(ranked[1:] == ranked[:-1], False)  # with the next one
    # Entries above the threshold of each FPR: all before the first non-member too many.
    nonmembers = np.append(np.flatnonzero(~member), len(member))
    last = nonmembers[np.minimum((np.asarray(fprs) * outside + roc.ROUNDING).astype(int), outside)]
    tprs = _tprs(order, member, tied, last.max(), fprs)

    weights = np.where(member, 1 / inside, -1 / outside)
    rank = 0.5 - _middle_ranks(tied) / len(member)
    of_models = [np.bincount(model, weights * rank, len(membership))]
    records = membership.shape[1]
    of_records = [np.bincount(record, rank, records)]
    for end, fpr in zip(last, fprs, strict=True):
        above = _above(member, tied, int(end), fpr * outside)
        reached = len(above)
        of_models.append(np.bincount(model[:reached], weights[:reached] * above, len(membership)))
        of_records.append(np.bincount(record[:reached], above, records))
    chance = np.array([0.5, *fprs])
    excess = np.array([0.5 + of_models[0].sum(), *tprs]) - chance
    centred = np.array(of_models) - _expected(np.array(of_records) / len(membership), membership, scheme)
    return excess + chance, _studentised(excess, centred)


def studentised_gaps(gaps: Array, influence: Array, membership: Mask, scheme: Scheme = COLUMNS) -> Array:
    """Metrics of members less those of non-members, divided by the standard error over models: (metric,).

    gaps: (metric,); influence: (metric, model, record) what an entry adds to a metric over all entries, whatever its
    membership; membership: (model, record). To first order a gap is the mean influence of members less that of
    non-members, a sum over models.
    """
    inside = np.count_nonzero(membership)
    weights = np.where(membership, 1 / inside, -1 / (membership.size - inside))
    of_models = (influence * weights).sum(2)
    # Where members and non-members are alike, both the gap and its error are rounding.
    gaps = np.where(np.abs(gaps) > ROUNDING, gaps, 0.0)
    return _studentised(gaps, of_models - _expected(influence.mean(1), membership, scheme))


def _tprs(order: NDArray[np.intp], member: Mask, tied: Mask, last: int, fprs: Sequence[float]) -> Array:
    """TPR at each FPR from the entries above the lowest threshold, which `last` entries and those tied with it pass."""
    last = min(last, len(member) - 1)
    last += int(np.argmin(tied[last:])) + 1
    runs = np.flatnonzero(~tied[:last])
    inside = np.count_nonzero(member)
    top = roc.Ranking(order[:last], member[:last].astype(np.float64), runs)
    return roc.at_fpr(*roc.curve(top, totals=(inside, len(member) - inside)), fprs)


def _above(member: Mask, tied: Mask, end: int, allowed: float) -> Array:
    """Share of each entry, in falling order, that is above the threshold with `allowed` non-members, (entry,).

    1 before the non-member at place `end`, with which the curve stops rising. Entries tied with it pass by the same
    share, as `roc.at_fpr` has it.
    """
    if end == len(member) or not (tied[end] or (end and tied[end - 1])):
        return np.ones(end)
    start = end - int(np.argmin(tied[:end][::-1])) if not tied[:end].all() else 0
    stop = end + int(np.argmin(tied[end:])) + 1
    before, within = np.count_nonzero(~member[:start]), np.count_nonzero(~member[start:stop])
    return np.concatenate([np.ones(start), np.full(stop - start, (allowed - before) / within)])


def _expected(of_records: Array, membership: Mask, scheme: Scheme) -> Array:
    """Sums of models (metric, model) whose differences are no noise: what a record's level, or chance, contributes.

    of_records: (metric, record) mean over models. Where every record keeps its number of models, its level cancels in
    the sum over models; otherwise only the mean level does.
    """
    if scheme.keeps == "rows":
        of_records = np.broadcast_to(of_records.mean(1, keepdims=True), of_records.shape)
    inside = np.count_nonzero(membership)
    outside = membership.size - inside
    of_members = (membership.astype(np.float32) @ of_records.T.astype(np.float32)).T
    return of_members * (1 / inside + 1 / outside) - of_records.sum(1, keepdims=True) / outside


def _falling(scores: Floats) -> NDArray[np.intp]:
    """Order of falling scores; those in single precision by a radix sort, in half of the time."""
    if scores.dtype != np.float32:
        return np.argsort(-scores)
    bits = (-scores).view(np.uint32)
    # As integers, negative numbers fall where they should rise.
    bits = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    order = np.argsort(bits.astype(np.uint16), kind="stable")
    return order[np.argsort((bits >> 16).astype(np.uint16)[order], kind="stable")]


def _middle_ranks(tied: Mask) -> Array:
    """Ranks (entry,) less 0.5 of falling scores, the mean within runs of ties; tied: with the next entry."""
    ranks = np.arange(0.5, len(tied))
    after = np.append(False, tied[:-1])
    first, last = np.flatnonzero(tied & ~after), np.flatnonzero(after & ~tied)
    ranks[tied | after] = np.repeat((first + last + 1) / 2, last - first + 1)
    return ranks


def _studentised(excess: Array, of_models: Array) -> Array:
    """excess: (metric,); of_models: (metric, model), whose spread over models gives the standard error."""
    models = of_models.shape[1]
    error = of_models.std(1, ddof=1) * np.sqrt(models)
    # An excess that all models have alike, as of a complete leak of yes-or-no signals, is beyond any error.
    certain = np.where(np.abs(excess) > ROUNDING, np.copysign(np.inf, excess), 0.0)
    return np.divide(excess, error, out=certain, where=error > ROUNDING)


def _scorer(signals: Array, membership: Mask, method: str | Method, options: dict[str, Any]):
    """A function from a membership matrix to the calibrated `Entries`."""
    defaults = method == "lira" and options in ({}, {"convention": "mean"}) and BalancedLira.fits(membership)
    if defaults and (fast := BalancedLira(np.asarray(signals, dtype=np.float64))).is_precise:
        records = np.arange(membership.shape[1], dtype=np.int32)
        record = np.tile(records.repeat(len(membership) // 2), 2)

        def balanced(member: Mask) -> Entries:
            halves = fast.scores(member)
            scores = np.concatenate([halves.inside.ravel(), halves.outside.ravel()])
            models = np.concatenate([halves.models_inside.ravel(), halves.models_outside.ravel()])
            return Entries(scores, np.arange(len(scores)) < halves.inside.size, models, record)

        return balanced
    return lambda member: Entries.of(calibrate(signals, member, method, **options), member)
