"""Tests of AUCs against memberships that are drawn again: the gate of a target, and nulls that can fail.

The members of a target are a random subset of its texts. Where nothing that scores the texts depends on which subset it
is, the AUCs of memberships that are drawn again are the exact null of its AUC, whatever the scores and the texts. Two
things are tested so: a classifier that queries no model (a target whose membership it predicts, in either direction, is
unfit), and attacks on targets that were fine-tuned without a look at their members (where they find some, they err).
With Holm's correction over all tests of a study (`mitigation_verdicts.holm`), the probability that any is below LEVEL
by chance is at most LEVEL, however many there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, critical
from memaudit.statistics.permutation_tests import aucs, p_value

LEVEL = 0.05
FEWEST_DRAWS = 1999
BATCH = 500  # memberships that are ranked at once


@dataclass(frozen=True)
class RedrawnAuc:
    """An AUC beside those of memberships that are drawn again.

    low, high: the AUC less the 95 % range of the null's deviations; null, spread: mean and standard deviation of the
    AUCs of memberships drawn again; p_value: of both directions, one test alone; detectable: the AUC that all tests
    together find with probability .9, NaN for scores that are all equal; texts: number of texts.
    """

    auc: float
    low: float
    high: float
    null: float
    spread: float
    p_value: float
    detectable: float
    texts: int


def draws_for(tests: int) -> int:
    """Number of memberships to draw so that about five are expected beyond what so many tests need of one."""
    return max(FEWEST_DRAWS, ceil(10 * tests / LEVEL))


def blind_aucs(
    weights: Array, places: NDArray[np.intp], members: Mask, targets: int, rng: np.random.Generator
) -> list[RedrawnAuc]:
    """The blind AUC of the membership of each of some targets of the same texts, (target, text).

    weights: of `attacks.blind_texts` for the texts at `places`, which are chosen without a look at the membership;
    members: each with as many members; targets: number of targets of the whole study.
    """
    drawn = _redrawn(members[0], draws_for(targets), rng)
    null = np.concatenate([_own_aucs(weights, batch[:, places]) for batch in drawn])
    return [_beside(auc, null, targets, len(places)) for auc in _own_aucs(weights, members[:, places])]


def null_aucs(
    scores: Sequence[Array], members: Sequence[Mask], tests: int, rng: np.random.Generator
) -> list[RedrawnAuc]:
    """The mean AUC over targets of each attack, where no score depends on the membership.

    scores: of each target, (attack, text); members: of each target, (text,), drawn independently; tests: number of
    tests of the whole study.
    """
    draws, attacks = draws_for(tests), len(scores[0])
    observed, null = np.zeros(attacks), np.zeros((attacks, draws))
    for own, member in zip(scores, members, strict=True):
        observed += aucs(own, member[None])[:, 0] / len(scores)
        null += np.hstack([aucs(own, batch) for batch in _redrawn(member, draws, rng)]) / len(scores)
    texts = sum(map(len, members))
    return [_beside(auc, of_attack, tests, texts) for auc, of_attack in zip(observed, null, strict=True)]


def mean_auc(checks: Sequence[RedrawnAuc]) -> tuple[float, float, float]:
    """Mean AUC of targets of the same texts, whose members are drawn independently, with its 95 % interval."""
    mean = float(np.mean([one.auc for one in checks]))
    half = norm.ppf((1 + bootstrap.LEVEL) / 2) * checks[0].spread / np.sqrt(len(checks))
    return mean, max(0.0, float(mean - half)), min(1.0, float(mean + half))


def _beside(auc: float, null: Array, tests: int, texts: int) -> RedrawnAuc:
    """An AUC beside its null (draw,)."""
    centre, spread = float(null.mean()), float(null.std(ddof=1))
    low, high = bootstrap.interval(null)
    p = min(1.0, 2 * float(min(p_value(auc, null), p_value(-auc, -null))))
    ends = (max(0.0, float(auc - (high - centre))), min(1.0, float(auc + (centre - low))))
    detectable = min(1.0, float(critical(null, LEVEL / 2 / tests) + norm.ppf(POWER_OF_MEANS) * spread))
    varies = np.ptp(null) > 0
    return RedrawnAuc(float(auc), *ends, centre, spread, p, detectable if varies else float("nan"), texts)


def _redrawn(member: Mask, draws: int, rng: np.random.Generator) -> Iterator[Mask]:
    """Memberships (draw, text) with as many members, in batches."""
    for first in range(0, draws, BATCH):
        yield rng.permuted(np.broadcast_to(member, (min(BATCH, draws - first), len(member))), axis=1)


def _own_aucs(weights: Array, members: Mask) -> Array:
    """AUC (draw,) of each membership (draw, text) by its own scores."""
    positives = members.sum(1)
    ranks = rankdata(members.astype(np.float64) @ weights.T, axis=1)
    sums = np.where(members, ranks, 0.0).sum(1)
    return (sums - positives * (positives + 1) / 2) / (positives * (members.shape[1] - positives))
