"""The strongest of several scores of the same answers, chosen on other contexts than those that report it.

The contexts are cut into folds. For the targets of a fold the score is chosen that is best on the contexts of the other
folds, where it is calibrated by these alone: a pair of contexts that serves in a choice does not serve in the fold that
the choice is for. So the choice does not bias the estimate. Scored once on all contexts, a choice would share each pair
(target of the fold, shadow context) with what it reports.

The p-value is that of the largest of all candidates' studentised metrics in each redraw of the memberships (max-T). It
needs no choice, so that each redraw scores every candidate once and the test is exact where nothing leaks. The value
without a leak is that of the chosen scores. Coverage of the interval and size of the test: docs/coverage.md.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.combined_score import normal_scores
from memaudit.attacks.cross_fitting import FOLDS, model_folds
from memaudit.common.arrays import Array, Codes, Indices, Mask
from memaudit.common.progress_bar import steps
from memaudit.data.membership_matrices import COLUMNS, Scheme, of_next_unit
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate, judge
from memaudit.statistics.permutation_tests import max_t
from memaudit.statistics.randomisation_tests import (
    FEWEST_DRAWS,
    Entries,
    Null,
    pooled_metrics,
    require_draws,
)
from memaudit.statistics.scorable_redraws import redraw

RATIOS = ("lira", "lira_shrunk", "combined", "white_box")  # methods whose scores are log-likelihood ratios: they add up
LARGE = 1 << 20  # (model, target) entries of which a test has FEWEST_DRAWS redraws, each of a second per 2 scores
AUC, TPR = "auc", "tpr"  # what a score is chosen by: all pairs, or the positive predictions at the strict threshold


@dataclass(frozen=True)
class Panel:
    """Several attacks on the same answers, judged by record or by privacy unit.

    attacks: by name, signals (model, record); membership: (model, target), drawn by `scheme`; target: (record,) number
    of each record's target, the record itself or its unit; groups: (target,) targets that are in together.
    """

    attacks: Mapping[str, Attack]
    membership: Mask
    target: Codes
    groups: Codes
    scheme: Scheme = COLUMNS

    @classmethod
    def of_records(cls, attacks: Mapping[str, Attack], membership: Mask, units: Codes, scheme: Scheme) -> Self:
        """Every record is a target; units: (record,) privacy units, whose records are in together."""
        return cls(attacks, membership, np.arange(membership.shape[1]), units, scheme)

    @classmethod
    def of_units(cls, attacks: Mapping[str, Attack], membership: Mask, units: Codes, scheme: Scheme) -> Self:
        """Every privacy unit is a target: the scores of its records are summed; membership: (model, record)."""
        _, first, target = np.unique(units, return_index=True, return_inverse=True)
        return cls(attacks, membership[:, first], target, np.arange(len(first)), scheme)

    def scores(self, name: str, membership: Mask | None = None) -> Array:
        """Scores (model, target) of an attack, higher = more likely a member.

        membership: (model, target), of a redraw; None: the observed one. Log-likelihood ratios of a unit's records add
        up; other scores are made normal first, so that their sum does not grow with the number of records.
        """
        signals, method, options = self.attacks[name]
        membership = self.membership if membership is None else membership
        scores = calibrate(signals, membership[:, self.target], method, **options)
        if np.array_equal(self.target, np.arange(membership.shape[1])):
            return scores
        order = np.argsort(self.target, kind="stable")
        starts = np.searchsorted(self.target[order], np.arange(membership.shape[1]))
        scores = scores if method in RATIOS else normal_scores(np.array(scores, np.float64))
        return np.add.reduceat(scores[:, order], starts, axis=1, dtype=np.float64)

    def redrawn(self, rng: np.random.Generator) -> Mask:
        """A membership matrix (model, target) that is as likely as the panel's, as `scorable_redraws.redraw`."""
        return redraw(self.scheme, self.membership, self.groups, rng)

    def exchanged(self, rng: np.random.Generator) -> Self:
        """The same attacks where each group has the membership of another one, as a negative control."""
        return replace(self, membership=of_next_unit(self.membership, self.groups, rng))

    def of_contexts(self, models: Mask) -> Self:
        """The same attacks with some of the contexts alone, (model,)."""
        attacks = {}
        for name, one in self.attacks.items():
            options = dict(one.options)
            if "population" in options:
                options["population"] = options["population"][models]
            attacks[name] = one._replace(signals=one.signals[models], options=options)
        return type(self)(attacks, self.membership[models], self.target, self.groups, self.scheme)


def context_folds(models: int, scheme: Scheme) -> Indices:
    """Fold of each context, (model,): whole blocks of the membership matrix, whose memberships are independent.

    FOLDS folds, or one for each block if these are fewer. A single block is cut: memberships of a record in different
    folds are then negatively correlated, by 1 / (models - 1).
    """
    block = np.arange(models) // (scheme.block or models)
    return block * min(FOLDS, block[-1] + 1) // (block[-1] + 1) if block[-1] else model_folds(models)


def choose(panel: Panel, fpr: float) -> dict[str, list[str]]:
    """The best score for each fold's targets, by its AUC and by its TPR at `fpr` on the other folds' contexts alone."""
    folds = context_folds(len(panel.membership), panel.scheme)
    chosen: dict[str, list[str]] = {AUC: [], TPR: []}
    for fold in range(folds[-1] + 1):
        others = panel.of_contexts(folds != fold)
        found = {name: _quality(others.scores(name), others.membership, fpr) for name in panel.attacks}
        for place, names in enumerate(chosen.values()):
            names.append(max(found, key=lambda name: found[name][place]))
    return chosen


def composite(panel: Panel, chosen: Sequence[str], scores: Mapping[str, Array] | None = None) -> Array:
    """Scores (model, target) of each fold's targets by the score that was chosen for it.

    chosen: by fold; scores: of the chosen ones at least, (model, target) each; None: by the observed membership.
    Different scores are made normal within each fold, to be ranked together.
    """
    scores = {name: panel.scores(name) for name in set(chosen)} if scores is None else scores
    if len(set(chosen)) == 1:
        return scores[chosen[0]]
    folds = context_folds(len(panel.membership), panel.scheme)
    made = np.empty(panel.membership.shape)
    for fold, name in enumerate(chosen):
        made[folds == fold] = normal_scores(np.array(scores[name][folds == fold], np.float64))
    return made


def composite_of(panel: Panel, chosen: Sequence[str], membership: Mask) -> Array:
    """`composite` of scores that are calibrated by a redrawn membership (model, target)."""
    return composite(panel, chosen, {name: panel.scores(name, membership) for name in set(chosen)})


def judge_strongest(
    panel: Panel,
    chosen: Mapping[str, Sequence[str]],
    *,
    fprs: Sequence[float],
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
) -> list[Estimate]:
    """AUC of the score chosen by AUC, and TPR at each FPR of that chosen by TPR, as `attack_performance.judge`.

    chosen: of `choose`. The randomisation null redraws all memberships, `null_of_strongest`.
    """
    options = {"fprs": fprs, "rng": rng, "replicates": replicates}
    return judge_alike([panel], [chosen], permutations=permutations, **options)[0]


def judge_alike(
    panels: Sequence[Panel],
    chosen: Sequence[Mapping[str, Sequence[str]]],
    *,
    fprs: Sequence[float],
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
) -> list[list[Estimate]]:
    """`judge_strongest` of panels whose answers and scheme are the same, of their own memberships.

    One set of redraws is the null of each where they are equally likely memberships, as those of columns with the same
    number of contexts: a p-value has its size, those of two panels correlate. Other panels have redraws of their own.
    """
    if _equally_likely(panels):
        nulls = _shared_nulls(panels, chosen, rng, permutations, fprs)
    else:
        nulls = [null_of_strongest(*one, rng, permutations, fprs) for one in zip(panels, chosen, strict=True)]
    options = {"fprs": fprs, "rng": rng, "replicates": replicates}
    return [_judged(*one, **options) for one in zip(panels, chosen, nulls, strict=True)]


def _equally_likely(panels: Sequence[Panel]) -> bool:
    """Whether redraws of the first panel's memberships are redraws of the others', too."""
    counts = [panel.membership.sum(0) for panel in panels]
    return panels[0].scheme.keeps == "rows" or all(np.array_equal(one, counts[0]) for one in counts)


def judge_redrawn(
    panel: Panel, number: int, *, fpr: float, rng: np.random.Generator, replicates: int, permutations: int
) -> list[list[Estimate]]:
    """AUC and TPR at `fpr`, as `judge_strongest`, of so many models without a leak.

    Their answers are those of the panel, and their members are drawn again.
    """
    panels = [replace(panel, membership=panel.redrawn(rng)) for _ in range(number)]
    chosen = [choose(one, fpr) for one in panels]
    options = {"fprs": [fpr], "rng": rng, "replicates": replicates}
    return judge_alike(panels, chosen, permutations=permutations, **options)


def _judged(
    panel: Panel, chosen: Mapping[str, Sequence[str]], nulls: Mapping[str, Null], **options: Any
) -> list[Estimate]:
    options |= {"groups": panel.groups}
    by_auc = judge(composite(panel, chosen[AUC]), panel.membership, null=nulls[AUC], **options)
    if chosen[TPR] == chosen[AUC]:
        return by_auc
    by_tpr = judge(composite(panel, chosen[TPR]), panel.membership, null=nulls[TPR], **options)
    return [by_auc[0], *by_tpr[1:]]


def null_of_strongest(
    panel: Panel, chosen: Mapping[str, Sequence[str]], rng: np.random.Generator, draws: int, fprs: Sequence[float]
) -> dict[str, Null]:
    """By criterion, metrics of the chosen scores under redraws, and the max-T p-values over all scores of the panel.

    The statistic is the largest studentised metric (`randomisation_tests`) of any score, each standardised by its own
    null (`permutation_tests.max_t`), which lies lower for scores that few records calibrate. At most FEWEST_DRAWS
    redraws of LARGE matrices. Raises AuditError as `randomisation_tests.require_draws`.
    """
    return _shared_nulls([panel], [chosen], rng, draws, fprs)[0]


def _shared_nulls(
    panels: Sequence[Panel],
    chosen: Sequence[Mapping[str, Sequence[str]]],
    rng: np.random.Generator,
    draws: int,
    fprs: Sequence[float],
) -> list[dict[str, Null]]:
    """`null_of_strongest` of panels that differ in their memberships alone, which are equally likely: same redraws."""
    first = panels[0]
    draws = min(draws, FEWEST_DRAWS) if first.membership.size > LARGE else draws
    require_draws(draws, len(first.membership))
    kept = {name for of_panel in chosen for names in of_panel.values() for name in names}
    observed = [_studentised(panel, panel.membership, fprs)[0] for panel in panels]
    redrawn = np.empty((1 + len(fprs), len(first.attacks), draws))
    values = [{criterion: np.empty((draws, 1 + len(fprs))) for criterion in of_panel} for of_panel in chosen]
    for draw in steps(range(draws), "redrawn membership, all scores"):
        member = first.redrawn(rng)
        studentised, scores = _studentised(first, member, fprs, kept)
        redrawn[..., draw] = studentised.T
        for of_panel, of_chosen in zip(chosen, values, strict=True):
            for criterion, names in of_panel.items():
                entries = Entries.of(composite(first, names, scores), member)
                of_chosen[criterion][draw] = pooled_metrics(entries, member, fprs, first.scheme)[0]
    found = []
    for of_panel, of_chosen in zip(observed, values, strict=True):
        p_values = np.array([max_t(*one).min() for one in zip(of_panel.T, redrawn, strict=True)])
        found.append({criterion: Null(tuple(fprs), metrics, p_values) for criterion, metrics in of_chosen.items()})
    return found


def judge_each(panel: Panel, names: Collection[str], **options: Any) -> dict[str, list[Estimate]]:
    """AUC and TPRs of these scores with their intervals, without a randomisation null.

    options: fprs, rng and replicates of `attack_performance.judge`.
    """
    names = [name for name in panel.attacks if name in names]
    return {name: judge(panel.scores(name), panel.membership, groups=panel.groups, **options) for name in names}


def shares(chosen: Sequence[str]) -> dict[str, float]:
    """Share of the folds for which each score was chosen, the most frequent one first."""
    return {name: count / len(chosen) for name, count in Counter(chosen).most_common()}


def _quality(scores: Array, membership: Mask, fpr: float) -> tuple[float, float]:
    curve = roc.curve(roc.rank(scores, membership))
    return roc.area(*curve), float(roc.at_fpr(*curve, [fpr])[0])


def _studentised(
    panel: Panel, member: Mask, fprs: Sequence[float], kept: Collection[str] = ()
) -> tuple[Array, dict[str, Array]]:
    """Studentised AUC and TPRs of all scores, (score, metric), and the scores (model, target) that are kept."""
    found, scores = [], {}
    for name in panel.attacks:
        of_name = panel.scores(name, member)
        found.append(pooled_metrics(Entries.of(of_name, member), member, fprs, panel.scheme)[1])
        if name in kept:
            scores[name] = of_name
    return np.array(found), scores
