"""Split-half agreement of the records' vulnerability ranking over models.

No model is left out of its own statistics here, so leave-one-out bias cannot occur.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from memaudit.arrays import Array, Mask
from memaudit.errors import AuditError
from memaudit.statistics.record_vulnerability import gap_statistics, vulnerability_score_out_deviations
from memaudit.workflow.progress_bar import steps

MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class Agreement:
    """Agreement of two halves of `models` models: mean over splits, central 95 % of splits and of the null.

    extrapolated is the Spearman-Brown reliability of all `models` models together, NaN for the overlaps.
    """

    models: int
    metric: str
    estimate: float
    low: float
    high: float
    null: float
    null_high: float
    extrapolated: float


def split_half(
    signals: Array,
    membership: Mask,
    rng: np.random.Generator,
    splits: int = 50,
    top: Sequence[float] = (0.05, 0.1),
) -> dict[str, Array]:
    """Agreement of vulnerability scores from two disjoint random halves of the models, one value per split, (splits,).

    signals, membership: (model, record). Score: the gap in OUT deviations. "spearman": rank correlation over records;
    "overlap_5%": share of the top 5 % of one half that is in the top 5 % of the other (by chance .05). Records that
    have fewer than 2 IN or 2 OUT models in a half are left out of that split; raises AuditError if they are more than
    a tenth.
    """
    agreement = np.empty((splits, 1 + len(top)))
    for row in agreement:
        halves = np.array_split(rng.permutation(len(signals)), 2)
        fewest = np.min([cells[half].sum(0) for half in halves for cells in (membership, ~membership)], axis=0)
        kept = fewest >= 2
        if kept.mean() < 1 - MOST_LEFT_OUT:
            raise AuditError(
                f"halves of {len(signals)} models leave {1 - kept.mean():.0%} of the records with fewer than 2 IN or"
                " 2 OUT models: use more models"
            )
        gaps = (gap_statistics(signals[half][:, kept], membership[half][:, kept]) for half in halves)
        a, b = map(vulnerability_score_out_deviations, gaps)
        row[:] = stats.spearmanr(a, b).statistic, *(_overlap(a, b, share) for share in top)
    return dict(zip(["spearman", *(f"overlap_{share:.0%}" for share in top)], agreement.T, strict=True))


def agreement_by_models(
    signals: Array,
    membership: Mask,
    sizes: Sequence[int],
    rng: np.random.Generator,
    splits: int = 50,
) -> list[Agreement]:
    """`split_half` on random subsets of M models for each M in sizes, beside its null.

    In every split of the null the rows of the membership matrix are permuted, so that membership is random. The spread
    over splits is not a confidence interval over score matrices: halves of different splits share models.
    """
    results = []
    for size in sizes:
        real, null = [], []
        for _ in steps(range(splits), f"splits of {size} models"):
            chosen = rng.permutation(len(signals))[:size]
            subset, of_subset = signals[chosen], membership[chosen]
            real.append(split_half(subset, of_subset, rng, 1))
            null.append(split_half(subset, of_subset[rng.permutation(size)], rng, 1))
        results += [_summary(size, metric, real, null) for metric in real[0]]
    return results


def spearman_brown(half: float) -> float:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r) (Spearman 1910, Brown 1910)."""
    return 2 * half / (1 + half)


def _overlap(a: Array, b: Array, share: float) -> float:
    count = max(1, round(share * len(a)))
    return len(np.intersect1d(np.argsort(-a)[:count], np.argsort(-b)[:count])) / count


def _summary(size: int, metric: str, real: list[dict], null: list[dict]) -> Agreement:
    values, chance = (np.concatenate([split[metric] for split in splits]) for splits in (real, null))
    low, high = np.quantile(values, [0.025, 0.975])
    whole = spearman_brown(values.mean()) if metric == "spearman" else np.nan
    return Agreement(
        size, metric, values.mean(), low, high, chance.mean(), float(np.quantile(chance, 0.975)), float(whole)
    )
