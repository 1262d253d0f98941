"""Attack on one model by two files, members and non-members: AUC, accusations, permutation test and power.

There is one model, so units (records, or persons) are the sample. They are cut at random into two halves. A score may
be fitted on the other half, and the strongest score of a half is chosen on the other half, so the choice does not raise
the reported AUC. Scores are compared within a half only: those of different fits have different scales.

Null hypothesis: given what the files hold of a unit, its membership was assigned at random. Permuting the memberships
and repeating everything, halves, fits and choice, is then an exact test for any score; the largest of all scores counts
(max-T). It does not tell memory from another difference between the files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import fisher_exact

from memaudit.common.arrays import Array, Indices, Mask
from memaudit.common.progress_bar import steps
from memaudit.statistics import roc, roc_replicates
from memaudit.statistics.accusation_precision import precision
from memaudit.statistics.attack_performance import SIGNIFICANT
from memaudit.statistics.bootstrap import Weights, two_way_weights, widened
from memaudit.statistics.detection_power import Verdict
from memaudit.statistics.intervals import TAIL, Z, clopper_pearson
from memaudit.statistics.permutation_tests import BEYOND, max_t, p_value

# Scores (unit,) by name of a membership (unit,) and halves (unit,).
Scorer = Callable[[Mask, Mask], Mapping[str, Array]]
FEWEST_ABOVE = 2  # non-members of a half above a threshold


@dataclass(frozen=True)
class Attacked:
    """Scores of one membership; names: of the scores (score,); values: (score, unit); member, half: (unit,).

    aucs: (score, half) within each half; chosen: (half,) the score that has the largest AUC in the other half.
    """

    names: Sequence[str]
    values: Array
    member: Mask
    half: Mask
    aucs: Array
    chosen: Indices

    @property
    def auc(self) -> float:
        """AUC of the chosen scores, the mean of both halves."""
        return float(self.aucs[self.chosen, [0, 1]].mean())

    @property
    def sides(self) -> tuple[Mask, Mask]:
        """Which units are in each half."""
        return self.half, ~self.half

    def strongest(self) -> Array:
        """Score (unit,) of the score that was chosen for the unit's half."""
        return np.where(self.half, *self.values[self.chosen])


def attack(scorer: Scorer, member: Mask, rng: np.random.Generator) -> Attacked:
    """Scores and their AUCs under a membership (unit,), with halves drawn at random from both files."""
    half = np.zeros(len(member), np.bool_)
    for side in (member, ~member):
        half[rng.permutation(np.flatnonzero(side))[::2]] = True
    scores = scorer(member, half)
    values = np.array(list(scores.values()), dtype=np.float64)
    aucs = np.array([[roc.auc(score[side], member[side]) for side in (half, ~half)] for score in values])
    return Attacked(list(scores), values, member, half, aucs, np.argmax(aucs, axis=0)[::-1])


def permuted(scorer: Scorer, member: Mask, rng: np.random.Generator, draws: int) -> Array:
    """AUC of each score, the mean of both halves, and last of the chosen ones, under permuted memberships:
    (score + 1, draw)."""
    drawn = []
    for _ in steps(range(draws), "permuted memberships"):
        one = attack(scorer, rng.permutation(member), rng)
        drawn.append([*one.aucs.mean(1), one.auc])
    return np.transpose(drawn)


def max_t_p_value(attacked: Attacked, null: Array) -> float:
    """p-value of the largest AUC of all scores, each standardised by its permutations; null: of `permuted`."""
    return float(np.min(max_t(attacked.aucs.mean(1), null[:-1])))


def auc_replicates(attacked: Attacked, score: Array, weights: Weights) -> tuple[float, Array]:
    """AUC of a score (unit,), the mean of both halves, and its bootstrap replicates (replicate,)."""
    observed, samples = [], []
    for side in attacked.sides:
        member, shape = attacked.member[side], (1, int(side.sum()))
        ranking = roc.rank(score[side], member)
        drawn = Weights(weights.models, weights.records[:, side], weights.units)
        samples.append(roc_replicates.auc_replicates(ranking, shape, drawn))
        observed.append(roc.area(*roc.curve(ranking)))
    return float(np.mean(observed)), np.mean(samples, axis=0)


def unit_weights(attacked: Attacked, replicates: int, rng: np.random.Generator) -> Weights:
    """Bootstrap weights of the units of an attack."""
    return two_way_weights(1, len(attacked.member), replicates, rng)


def auc_interval(attacked: Attacked, score: Array, weights: Weights) -> tuple[float, float, float]:
    """AUC of a score with its 95 % interval over units of both files; the fits and the choice are held."""
    observed, samples = auc_replicates(attacked, score, weights)
    return (observed, *widened(samples, observed, fewer_units(attacked.member), 0, 1))


def excess_interval(attacked: Attacked, score: Array, control: Array, weights: Weights) -> tuple[float, float, float]:
    """AUC of a score less that of a control, with its 95 % interval, from the same bootstrap replicates."""
    first, second = (auc_replicates(attacked, one, weights) for one in (score, control))
    observed = first[0] - second[0]
    return (observed, *widened(first[1] - second[1], observed, fewer_units(attacked.member), -1, 1))


def fewer_units(member: Mask) -> int:
    """Units of the smaller file."""
    return int(min(member.sum(), (~member).sum()))


@dataclass(frozen=True)
class Accused:
    """Accusations at a threshold that was set on the other half: counts, and the p-value of Fisher's exact test."""

    members: int
    accused_members: int
    non_members: int
    accused_non_members: int
    p_value: float

    @property
    def tpr(self) -> tuple[float, float, float]:
        """Share of the members that are accused, with its Clopper-Pearson interval."""
        return (self.accused_members / self.members, *clopper_pearson(self.accused_members, self.members))

    @property
    def fpr(self) -> tuple[float, float, float]:
        """Share of the non-members that are accused, with its Clopper-Pearson interval."""
        return self.accused_non_members / self.non_members, *clopper_pearson(self.accused_non_members, self.non_members)

    def precision(self, base_rate: float) -> tuple[float, float, float]:
        """Precision at a base rate, from both rates and the ends of their joint 95 % intervals (Bonferroni).

        The estimate is NaN where no non-member, or nobody, is accused: a count of 0 tells no ratio.
        """
        inside = clopper_pearson(self.accused_members, self.members, TAIL / 2)
        outside = clopper_pearson(self.accused_non_members, self.non_members, TAIL / 2)
        known = self.tpr[0] if self.accused_non_members else np.nan
        pairs = [(known, self.fpr[0]), (inside[0], outside[1]), (inside[1], outside[0])]
        estimate, low, high = (float(precision(*pair, base_rate)) for pair in pairs)
        return estimate, low, high


def enough_for(fpr: float, member: Mask) -> bool:
    """Whether each half has so many non-members that a threshold at this FPR has two of them above it."""
    return fpr * (int((~member).sum()) // 2) >= FEWEST_ABOVE


def accuse(attacked: Attacked, fpr: float) -> Accused:
    """Who is accused at a false positive rate, by score and threshold of the other half.

    The threshold is the non-member of rank fpr (n + 1) of the n in the other half, which one more non-member exceeds
    with at most this probability. The score is the one that accuses most members there; of equal ones the larger AUC.
    That choice prefers low thresholds, so the actual FPR is a little higher: the counts say how high.
    """
    caught, counts = np.zeros(len(attacked.member), np.bool_), []
    for place, (own, other) in enumerate(zip(attacked.sides, attacked.sides[::-1], strict=True)):
        outside = -np.sort(-attacked.values[:, other & ~attacked.member], axis=1)
        rank = int(fpr * (outside.shape[1] + 1) + roc.ROUNDING)
        thresholds = outside[:, rank - 1]
        found = (attacked.values[:, other & attacked.member] > thresholds[:, None]).sum(1)
        best = np.lexsort((attacked.aucs[:, 1 - place], found))[-1]
        caught[own] = attacked.values[best, own] > thresholds[best]
    for side in (attacked.member, ~attacked.member):
        counts += [int(side.sum()), int((caught & side).sum())]
    table = [[counts[1], counts[0] - counts[1]], [counts[3], counts[2] - counts[3]]]
    return Accused(*counts, float(fisher_exact(table, alternative="greater").pvalue))


def smallest_auc(null: Array, member: Mask) -> float | None:
    """Smallest AUC that is detected with probability .8: p at most .05 by max-T, and an interval above 0.5.

    null: of `permuted`; the AUC of the chosen scores varies about it as it does without a leak. None if none is.
    """
    each, spread = null[:-1], null.std(1, ddof=1)
    scaled = np.where(spread[:-1] > roc.ROUNDING, spread[:-1], np.inf)
    largest = np.clip((each - each.mean(1)[:, None]) / scaled[:, None], -BEYOND, BEYOND).max(0)
    if not spread[-1] > roc.ROUNDING:
        return None
    units = fewer_units(member)
    half_width = np.array([Z * spread[-1] * np.sqrt(units / (units - 1))])
    smallest = 0.5 + Verdict(spread[-1], spread[-1], largest, half_width, null.shape[1]).smallest_excess()
    return float(smallest) if smallest < 1 else None


def detected(auc: tuple[float, float, float], p: float) -> bool:
    """Whether the test rejects and the interval lies above 0.5."""
    return p <= SIGNIFICANT and auc[1] > 0.5


def permutation_p_value(observed: float, null: Array) -> float:
    """p-value of one AUC among those of permuted memberships (draw,)."""
    return float(p_value(np.float64(observed), null))


def false_positive_rates(attacked: Attacked) -> Array:
    """Of each unit the share of the non-members of its half that score as high or higher by the chosen score, (unit,).

    For a non-member the others: it is not compared with itself.
    """
    rates = np.empty(len(attacked.member))
    score = attacked.strongest()
    for side in attacked.sides:
        outside = np.sort(score[side & ~attacked.member])
        above = len(outside) - np.searchsorted(outside, score[side], "left")
        own = ~attacked.member[side]
        rates[side] = (above - own) / (len(outside) - own)
    return rates
