"""Would the same people be named again? Agreement between halves of the models, and tests of single records.

Nothing here leaves a model out of its own statistics, so leave-one-out bias cannot enter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from memaudit.arrays import Array, Mask
from memaudit.errors import AuditError
from memaudit.statistics.finite_population import Gap, gap_statistics, predicted_tpr
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


def signed_gap(gap: Gap) -> Array:
    """Exposure as the mean gap in OUT standard deviations, positive where members score higher, shape (record,)."""
    return gap.exposure


def tpr_at_one_percent(gap: Gap) -> Array:
    """Exposure as the normal TPR at FPR .01, shape (record,)."""
    return predicted_tpr(gap, 0.01)


def split_half(
    signals: Array,
    design: Mask,
    rng: np.random.Generator,
    splits: int = 50,
    exposure: Callable[[Gap], Array] = signed_gap,
    top: Sequence[float] = (0.05, 0.1),
) -> dict[str, Array]:
    """Agreement of exposures measured on two disjoint random halves of the models, one value per split, (splits,).

    signals and design are (model, record). "spearman": rank correlation over records; "overlap_5%": share of the top
    5 % of one half that is in the top 5 % of the other (by chance .05). Records that a half leaves with fewer than 2
    models on a side are left out of its split; raises AuditError if they are more than a tenth.
    """
    agreement = np.empty((splits, 1 + len(top)))
    for row in agreement:
        halves = np.array_split(rng.permutation(len(signals)), 2)
        fewest = np.min([side[half].sum(0) for half in halves for side in (design, ~design)], axis=0)
        kept = fewest >= 2
        if kept.mean() < 1 - MOST_LEFT_OUT:
            raise AuditError(
                f"halves of {len(signals)} models leave {1 - kept.mean():.0%} of the records with fewer than 2 models"
                " on a side: use more models"
            )
        a, b = (exposure(gap_statistics(signals[half][:, kept], design[half][:, kept])) for half in halves)
        row[:] = stats.spearmanr(a, b).statistic, *(_overlap(a, b, share) for share in top)
    return dict(zip(["spearman", *(f"overlap_{share:.0%}" for share in top)], agreement.T, strict=True))


def agreement_by_models(
    signals: Array,
    design: Mask,
    sizes: Sequence[int],
    rng: np.random.Generator,
    splits: int = 50,
    exposure: Callable[[Gap], Array] = signed_gap,
) -> list[Agreement]:
    """`split_half` on random subsets of M models for each M in sizes, beside its null.

    In every split of the null the rows of the design are permuted, so that membership is nobody's. The spread over
    splits of one grid is not a confidence interval over grids: halves of different splits share models.
    """
    results = []
    for size in sizes:
        real, null = [], []
        for _ in steps(range(splits), f"splits of {size} models"):
            chosen = rng.permutation(len(signals))[:size]
            grid, membership = signals[chosen], design[chosen]
            real.append(split_half(grid, membership, rng, 1, exposure))
            null.append(split_half(grid, membership[rng.permutation(size)], rng, 1, exposure))
        results += [_summary(size, metric, real, null) for metric in real[0]]
    return results


def spearman_brown(half: float) -> float:
    """Reliability of the whole from the correlation of its halves, 2r/(1 + r) (Spearman 1910, Brown 1910)."""
    return 2 * half / (1 + half)


def membership_p_values(signals: Array, design: Mask) -> Array:
    """Two-sided Mann-Whitney p-value of IN against OUT signals for each record, shape (record,).

    Ranks need no normal signals, and permuting the design's rows makes the labels of every record exchangeable.
    Tie-corrected normal approximation: with 16 models a p-value below 1e-3 cannot be had.
    """
    ranks = stats.rankdata(signals, axis=0)
    models, inside = len(signals), design.sum(0)
    excess = np.where(design, ranks, 0.0).sum(0) - inside * (models + 1) / 2
    # The variance of a sum of `inside` ranks drawn without replacement holds with ties, if the ranks' own is taken.
    sigma = np.sqrt(inside * (models - inside) / models * ranks.var(0, ddof=1))
    shrunk = np.maximum(np.abs(excess) - 0.5, 0.0)
    z = np.divide(shrunk, sigma, out=np.zeros_like(shrunk), where=sigma > 0)
    return np.minimum(2 * stats.norm.sf(z), 1.0)


def detected_records(signals: Array, design: Mask, rate: float = 0.05) -> Mask:
    """Which records' membership shows in their signals, bool (record,), at false discovery rate `rate`.

    Benjamini-Hochberg over `membership_p_values`.
    """
    return stats.false_discovery_control(membership_p_values(signals, design), method="bh") <= rate


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
