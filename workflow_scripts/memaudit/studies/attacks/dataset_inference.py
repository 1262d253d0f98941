"""Data-set inference (Maini et al. 2021): one p-value from many records for the presence of a corpus in a context.

The signals of many records are stronger evidence than one, but records of one context are dependent: overconfident
contexts raise all records' scores. So the sum of the records' likelihood ratios has no known null distribution, and it
cannot be simulated, since no shadow context lacks a whole corpus: records are in independently. The test here compares
within the *target* context alone. Each signal is standardised by the record's OUT fit on the other sets,
(s - mu_out) / sigma_out, and a one-sided rank test (Wilcoxon) asks whether the corpus lies higher than public records
that are in no context, standardised likewise.

The test is valid because corpora are random draws from the members, and members and non-members are a random split of
one table, so that an OUT record and a public record are exchangeable given the target context. Two details are needed.
The fits leave out pairs (attacks.shadow_sides.Leave), so that IN and OUT targets have equally many contexts. A public
record, which is out of every context, is fitted on those that a random member is out of: equally many, so that its
tails are no lighter. The likelihood ratio and the sign of mu_in - mu_out exist for members only, so neither can be
used.

Corpora that are in are told from those that are out (AUC, TPR) by a randomisation test, studentised over targets, so
that companions' effects do not count. Size in simulations: docs/coverage.md; on real contexts: metric "size" of every
run. It is below nominal where a corpus is much of all that is out, or a split is stratified: then the two samples are
more alike than random ones.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.gaussian import CONVENTIONS, fit_without_target, require_shadows
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import intervals
from memaudit.statistics.attack_performance import FPRS, SIGNIFICANT, Estimate, judge
from memaudit.statistics.randomisation_tests import Entries, Null, p_value, pooled_metrics
from memaudit.statistics.rank_tests import greater_p_values
from memaudit.statistics.scorable_redraws import redraw

Groups = NDArray[np.int64]


def largest_corpus(membership: Mask, groups: Groups) -> int:
    """Most records of different groups that every set has inside, and outside. membership: (model, record)."""
    return min(len(np.unique(groups[side])) for row in membership for side in (row, ~row))


def p_values(
    signals: Array,
    membership: Mask,
    public: Array,
    *,
    records: int,
    trials: int,
    rng: np.random.Generator,
    groups: Groups | None = None,
) -> tuple[Array, Mask]:
    """p-values (model, corpus) of random corpora that are all in, and all out, of their target; and which are in.

    signals, membership: (model, record); public: (model, z) signals of records that are in no context; records: size of
    a corpus; trials: approximate number of corpora of each kind, equally many for each target; random targets if trials
    are few. groups: (record,); a corpus has at most one record of a group, since the test needs independent records.
    Raises AuditError where a context has too few records, IN or OUT.
    """
    groups = np.arange(membership.shape[1]) if groups is None else groups
    if records > (largest := largest_corpus(membership, groups)):
        raise AuditError(
            f"a corpus of {records} records: a context has only {largest} members or non-members; take smaller corpora"
        )
    inside, outside = _standardised(signals, membership, public, rng)
    each = -(-trials // len(membership))
    targets = rng.choice(len(membership), trials // each, replace=False)
    corpora = np.stack([_corpora(membership[target], groups, records, each, rng) for target in targets])
    drawn = np.take_along_axis(inside[targets][:, None], corpora, axis=-1)
    values = greater_p_values(drawn, outside[targets][:, None])
    return values, np.broadcast_to(np.arange(2 * each) < each, values.shape)


def corpora_null(
    signals: Array,
    membership: Mask,
    public: Array,
    observed: tuple[Array, Mask],
    *,
    permutations: int,
    fprs: Sequence[float] = FPRS,
    scheme: Scheme = COLUMNS,
    **options,
) -> Null:
    """AUC and TPRs of `judge_corpora` under redraws of the membership matrix by its scheme, and their p-values.

    observed: `p_values` of this membership; permutations: number of redraws; options: those of `p_values`. The null's
    p-values are of metrics studentised over target sets (`randomisation_tests`): effects of companions make the corpora
    of one target alike.
    """
    drawn = [pooled_metrics(Entries.of(-observed[0], observed[1]), observed[1], fprs)]
    for _ in steps(range(permutations), "redrawn membership, data-set inference"):
        redrawn = redraw(scheme, membership, options.get("groups"), options["rng"])
        p, inside = p_values(signals, redrawn, public, **options)
        drawn.append(pooled_metrics(Entries.of(-p, inside), inside, fprs))
    values, studentised = np.swapaxes(drawn, 0, 1)
    return Null(tuple(fprs), values[1:], p_value(studentised[0], studentised[1:]))


def judge_corpora(
    p_values: Array,
    inside: Mask,
    *,
    fprs: Sequence[float] = FPRS,
    rng: np.random.Generator,
    replicates: int = 200,
    null: Null | None = None,
) -> list[Estimate]:
    """ "power" and "size", the shares of p <= 0.05 among corpora that are in and out; AUC and TPR of -p between them.

    p_values, inside: (model, corpus) of the function `p_values`; null: `corpora_null`. Intervals of AUC and TPR:
    bootstrap of the target sets, which carry their corpora along; of the shares: Clopper and Pearson's, as if the
    corpora of one target were one trial.
    """
    estimates = []
    for metric, side in (("power", inside), ("size", ~inside)):
        share = float((p_values <= SIGNIFICANT).mean(where=side))
        # A bootstrap of rare rejections ends at 0, or is [0, 0].
        ends = intervals.clopper_pearson(share * len(p_values), len(p_values))
        method = f"Clopper-Pearson, a target set counted as one trial; share of p <= {SIGNIFICANT}"
        estimates.append(Estimate(metric, share, *ends, np.count_nonzero(side), method, SIGNIFICANT))
    judged = judge(-p_values, inside, fprs=fprs, rng=rng, groups=one_group(p_values), replicates=replicates, null=null)
    made = ("two-way bootstrap", "bootstrap of target sets")
    return estimates + [replace(estimate, method=estimate.method.replace(*made)) for estimate in judged]


def one_group(p_values: Array) -> Groups:
    """Groups (corpus,) for `judge` and `roc_band`: only targets are resampled, each with all of its corpora."""
    return np.zeros(p_values.shape[1], np.int64)


def _standardised(signals: Array, membership: Mask, public: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """(s - mu_out) / sigma_out of members and of public records, each without the target's own pair."""
    require_shadows(membership)
    borrowed = membership[:, rng.integers(membership.shape[1], size=public.shape[1])]
    return tuple(
        fit_without_target(values, ~member, CONVENTIONS["ddof1"]).standardise(values)
        for values, member in ((signals, membership), (public, borrowed))
    )


def _corpora(row: Mask, groups: Groups, records: int, each: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(2 each, records): corpora of records that are in, then of records that are out, at most one of a group."""
    corpora = []
    for side in np.repeat([True, False], each):
        shuffled = rng.permutation(np.flatnonzero(row == side))
        first = np.unique(groups[shuffled], return_index=True)[1]
        corpora.append(shuffled[rng.choice(first, records, replace=False)])
    return np.array(corpora)
