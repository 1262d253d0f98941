"""Split-half agreement of the records' vulnerability ranking over models.

Two disjoint halves of the models rank the records by the vulnerability score that is listed. Where the ranking means
nothing, both lists of k of N records are independent and share a hypergeometric number. No model is left out of its own
statistics here, so leave-one-out bias cannot occur.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps
from memaudit.statistics.record_vulnerability import Population

MOST_LEFT_OUT = 0.1
SHARES = (0.05, 0.1)
SPEARMAN = "spearman"


@dataclass(frozen=True)
class Agreement:
    """Agreement of two halves of `models` models: mean over splits, central 95 % of splits, value by chance.

    whole: rank correlation expected between two grids of `models` models each (`spearman_brown`), NaN for lists, of
    which the formula predicts too much (`list_replication`); p_value: that two independent rankings overlap as much,
    NaN for rank correlations.
    """

    models: int
    metric: str
    estimate: float
    low: float
    high: float
    null: float
    whole: float
    p_value: float


@dataclass(frozen=True)
class Split:
    """Agreement of one pair of halves: rank correlation, numbers of records that both lists name, p-values of these."""

    spearman: float
    shared: Sequence[int]
    p_values: Sequence[float]


def split_half(
    signals: Array,
    membership: Mask,
    population: Population,
    rng: np.random.Generator,
    lists: Sequence[int],
    varied: Mask | bool = True,
) -> Split:
    """Agreement of the vulnerability scores of two disjoint random halves of the models.

    signals, membership: (model, record); population: of the scores, fitted on all models; lists: lengths of the lists
    of the most vulnerable records; varied: (record,) those that are ranked. Records that have fewer than 2 IN or 2 OUT
    models in a half are left out; raises AuditError if they are more than a tenth. Fewer than 2 records agree on
    nothing.
    """
    halves = np.array_split(rng.permutation(len(signals)), 2)
    fewest = np.min([entries[half].sum(0) for half in halves for entries in (membership, ~membership)], axis=0)
    kept = fewest >= 2
    if kept.mean() < 1 - MOST_LEFT_OUT:
        raise AuditError(
            f"halves of {len(signals)} models leave {1 - kept.mean():.0%} of the records with fewer than 2 IN or"
            " 2 OUT models: use more models"
        )
    kept &= varied
    if np.count_nonzero(kept) < 2:
        return Split(np.nan, [0] * len(lists), [1.0] * len(lists))
    a, b = (population.scores(signals[half][:, kept], membership[half][:, kept]) for half in halves)
    # Ties in random order: that of the table would be the same in both halves.
    first, second = (np.lexsort((rng.random(len(scores)), -scores)) for scores in (a, b))
    shared = [len(np.intersect1d(first[:length], second[:length])) for length in lists]
    records = len(a)
    sizes = np.minimum(lists, records)
    p_values = [stats.hypergeom.sf(both - 1, records, k, k) for both, k in zip(shared, sizes, strict=True)]
    return Split(float(stats.spearmanr(a, b).statistic), shared, p_values)


def agreement_by_models(
    signals: Array,
    membership: Mask,
    sizes: Sequence[int],
    rng: np.random.Generator,
    splits: int = 50,
    lists: Mapping[str, int] | None = None,
    population: Population | None = None,
) -> list[Agreement]:
    """Agreement of halves of random subsets of M models for each M in sizes, over `splits` splits.

    population: of the scores; None: it is fitted. "spearman": rank correlation over all records; then for each of
    `lists`, by name, the share of that many records that both halves list; by default the top 5 and 10 %, and never
    all. Records of constant signals are left out: they stand in the middle of both rankings, which makes the others
    agree by more than chance. The spread over
    splits is not a confidence interval over score matrices: halves of different splits share models. Their p-values
    hold at any dependence: twice the median (Meinshausen, Meier and Buehlmann 2009).
    """
    varied = np.ptp(signals, axis=0) > 0
    records = np.count_nonzero(varied)
    lists = lists or {f"overlap_{share:.0%}": round(share * records) for share in SHARES}
    lists = {name: max(1, min(length, records - 1)) for name, length in lists.items()}
    population = population or Population.fit(signals, membership, rng)
    results = []
    for size in sizes:
        found = []
        for _ in steps(range(splits), f"splits of {size} models"):
            chosen = rng.permutation(len(signals))[:size]
            found.append(split_half(signals[chosen], membership[chosen], population, rng, list(lists.values()), varied))
        results.append(_summary(size, SPEARMAN, np.array([split.spearman for split in found]), 0.0, np.nan))
        for place, (name, length) in enumerate(lists.items()):
            shares = np.array([split.shared[place] for split in found]) / length
            p_value = min(1.0, 2 * float(np.median([split.p_values[place] for split in found])))
            results.append(_summary(size, name, shares, length / max(records, 1), p_value))
    return results


def spearman_brown(half: float) -> float:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r) (Spearman 1910, Brown 1910)."""
    return 2 * half / (1 + half)


def _summary(models: int, metric: str, values: Array, chance: float, p_value: float) -> Agreement:
    low, high = np.quantile(values, [0.025, 0.975])
    whole = spearman_brown(max(values.mean(), 0.0)) if metric == SPEARMAN else np.nan
    return Agreement(models, metric, values.mean(), float(low), float(high), chance, float(whole), p_value)
