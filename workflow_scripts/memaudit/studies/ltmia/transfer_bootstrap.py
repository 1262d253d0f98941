"""Metrics of attacks on combinations of models and corpora that trained no classifier, with paired bootstrap intervals.

Two things are resampled: texts, with the same weights for all combinations of one corpus, and combinations within each
family of models. All attacks have the same weights, so differences between them are paired.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.attacks.calibrate import calibrate
from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import interpolated
from memaudit.statistics.paired_differences import metric_samples
from memaudit.statistics.rank_correlation import spearman
from memaudit.statistics.signed_rank_test import signed_rank_rows

Rows = Iterator[dict[str, Any]]

STUDY = "ltmia"
COMBINATION = ["model", "dataset", "tuning"]
FEWEST = 3  # combinations of a family that are resampled


def is_combination(table: pd.DataFrame, names: Sequence[Sequence[str]]) -> np.ndarray:
    """Whether each row (row,) belongs to one of the named combinations."""
    chosen = {tuple(name) for name in names}
    return np.array([name in chosen for name in table[COMBINATION].itertuples(index=False, name=None)], dtype=bool)


@dataclass(frozen=True)
class AttackMetrics:
    """Metrics of attacks on combinations.

    keys: (combination,) model, family, dataset, ...; observed: attack -> (combination, metric); samples: attack ->
    (combination, replicate, metric); names: of the metrics, auc, then TPRs; chance: (metric,); texts: (combination,);
    notes: suffix of the method of each metric.
    """

    keys: pd.DataFrame
    names: list[str]
    chance: Array
    observed: Mapping[str, Array]
    samples: Mapping[str, Array]
    texts: NDArray[np.int64]
    notes: list[str]

    def of(self, chosen: Mask) -> "AttackMetrics":
        """The metrics of some combinations."""
        return AttackMetrics(
            self.keys[chosen].reset_index(drop=True),
            self.names,
            self.chance,
            {name: values[chosen] for name, values in self.observed.items()},
            {name: values[chosen] for name, values in self.samples.items()},
            self.texts[chosen],
            self.notes,
        )


def attack_metrics(
    scores: pd.DataFrame, attacks: Sequence[str], fprs: Sequence[float], rng: np.random.Generator, replicates: int
) -> AttackMetrics:
    """Metrics of attacks on all combinations.

    scores: a row for each text of each combination, with columns model, dataset, tuning, id, member, a column for each
    attack, and others that are keys of a combination. Texts of one corpus are resampled alike in all its combinations.
    """
    others = [name for name in scores if name not in (*attacks, "id", "member", *COMBINATION)]
    keys, observed, samples, texts = [], {name: [] for name in attacks}, {name: [] for name in attacks}, []
    drawn: dict[tuple[str, int], Array] = {}
    fewest: Mask | None = None
    for name, own in scores.sort_values("id", kind="stable").groupby(COMBINATION, sort=False):
        place = (name[1], hash(tuple(own["id"])))
        if place not in drawn:
            drawn[place] = bootstrap.two_way_weights(1, len(own), replicates, rng).records
        weights = bootstrap.Weights(np.ones((replicates, 1)), drawn[place])
        member = own["member"].to_numpy(dtype=bool)[None]
        for attack in attacks:
            raw = calibrate(own[attack].to_numpy()[None], member, "raw")
            values, sample = metric_samples(raw, member, fprs, weights)
            observed[attack].append(values)
            samples[attack].append(sample)
        keys.append(dict(zip(COMBINATION, name, strict=True)) | own[others].iloc[0].to_dict())
        texts.append(len(own))
        fewest = member if fewest is None or (~member).sum() < (~fewest).sum() else fewest
    return AttackMetrics(
        pd.DataFrame(keys),
        ["auc", *(f"tpr@{fpr:.3g}" for fpr in fprs)],
        np.array([0.5, *fprs]),
        {name: np.array(values) for name, values in observed.items()},
        {name: np.array(values) for name, values in samples.items()},
        np.array(texts),
        interpolated(fewest, fprs),
    )


@dataclass(frozen=True)
class CombinationWeights:
    """Weights of combinations in a mean, (combination,), and in every replicate of it, (replicate, combination).

    Each family has the same weight. Within a family of at least FEWEST combinations these are resampled, one fewer than
    there are, which leaves the variance of their mean unbiased (Rao and Wu 1988); fewer are taken as given, since a
    bootstrap of two knows no spread.
    """

    share: Array
    weights: Array
    free: NDArray[np.intp]

    @classmethod
    def of(cls, families: Sequence[str], replicates: int, rng: np.random.Generator) -> "CombinationWeights":
        """Weights of combinations of these families (combination,)."""
        families = np.asarray(families)
        share, weights = np.empty(len(families)), np.empty((replicates, len(families)))
        free: list[int] = []
        for family in dict.fromkeys(families):
            own = families == family
            even = np.full(own.sum(), 1 / own.sum())
            share[own] = weights[:, own] = even
            if own.sum() >= FEWEST:
                weights[:, own] = rng.multinomial(own.sum() - 1, even, size=replicates) / (own.sum() - 1)
                free += np.flatnonzero(own)[1 if free else 0 :].tolist()
        return cls(share / share.sum(), weights / share.sum(), np.array(free, dtype=np.intp))

    @property
    def drawn(self) -> Array:
        """Weights of the combinations that are resampled, (replicate, combination), less one for each further family.

        As many columns as Student's t of all families together has degrees of freedom, and one.
        """
        return self.weights[:, self.free]

    @property
    def resampled(self) -> str:
        """What the intervals resample, for their method."""
        what = "texts and combinations" if self.drawn.size else "texts, combinations taken as given"
        return f"{what}, {len(self.weights)} replicates"

    def interval(self, observed: float, samples: Array) -> tuple[float, float]:
        """95 % interval of a mean or a difference from its replicates (replicate,)."""
        if not self.drawn.size:
            return bootstrap.interval(samples)
        return bootstrap.two_way_interval(samples, observed, bootstrap.Weights(self.drawn, self.drawn, bootstrap.MANY))

    def intervals(self, observed: Array, samples: Array) -> Array:
        """`interval` of each of several metrics, (metric, 2), from (metric,) and (replicate, metric)."""
        return np.array([self.interval(value, one) for value, one in zip(observed, samples.T, strict=True)])

    def mean(self, values: Array) -> Array:
        """Mean (metric,) of values (combination, metric)."""
        return self.share @ values

    def means(self, samples: Array) -> Array:
        """Means (replicate, metric) of samples (combination, replicate, metric)."""
        return np.einsum("crm,rc->rm", samples, self.weights)

    def of_attack(self, metrics: AttackMetrics, attack: str) -> tuple[Array, Array]:
        """Mean (metric,) of an attack over the combinations, and its replicates (replicate, metric)."""
        return self.mean(metrics.observed[attack]), self.means(metrics.samples[attack])


def combination_rows(metrics: AttackMetrics, **keys: Any) -> Rows:
    """Tidy rows of every attack on every combination; only texts are resampled."""
    for attack, values in metrics.observed.items():
        for at, of in metrics.keys.iterrows():
            own = keys | {name: value for name, value in of.items() if pd.notna(value)} | {"attack": attack}
            texts = int(metrics.texts[at])
            ends = np.array(
                [
                    bootstrap.widened(one, value, texts)
                    for one, value in zip(metrics.samples[attack][at].T, values[at], strict=True)
                ]
            )
            yield from metric_rows(
                metrics, own, values[at], ends, texts, f"texts, {metrics.samples[attack].shape[1]} replicates"
            )


def mean_rows(metrics: AttackMetrics, weights: CombinationWeights, **keys: Any) -> Rows:
    """Tidy rows of every attack's mean over the combinations."""
    for attack in metrics.observed:
        own = keys | {"attack": attack}
        observed, samples = weights.of_attack(metrics, attack)
        ends = weights.intervals(observed, samples)
        yield from metric_rows(metrics, own, observed, ends, metrics.texts.sum(), weights.resampled)


def difference_rows(metrics: AttackMetrics, weights: CombinationWeights, attack: str, **keys: Any) -> Rows:
    """Tidy rows of the paired differences of an attack from each other attack, with signed-rank tests (Section 4.2)."""
    for other in (name for name in metrics.observed if name != attack):
        own = keys | {"attack": f"{attack} - {other}"}
        gap = metrics.observed[attack] - metrics.observed[other]
        mean = weights.mean(gap)
        ends = weights.intervals(mean, weights.means(metrics.samples[attack] - metrics.samples[other]))
        yield from metric_rows(metrics, own, mean, ends, metrics.texts.sum(), weights.resampled, difference=True)
        yield from signed_rank_rows(STUDY, own, gap[:, 0], "combinations")


def contrast_rows(
    one: AttackMetrics, other: AttackMetrics, weights: tuple[CombinationWeights, CombinationWeights], **keys: Any
) -> Rows:
    """Tidy rows of every attack's mean over some combinations minus that over others; weights: of the two groups."""
    for attack in one.observed:
        pair = (weights[0].of_attack(one, attack), weights[1].of_attack(other, attack))
        gap, samples = (first - second for first, second in zip(*pair, strict=True))
        fewest = min(weights, key=lambda group: group.drawn.shape[1])
        own, texts = keys | {"attack": attack}, one.texts.sum() + other.texts.sum()
        ends = fewest.intervals(gap, samples)
        yield from metric_rows(one, own, gap, ends, texts, fewest.resampled, difference=True)


def drop_row(lost: float, samples: Array, weights: CombinationWeights, texts: int, **keys: Any) -> dict[str, Any]:
    """Tidy row of the AUC lost where a group of features is permuted among texts; samples: (replicate,)."""
    low, high = weights.interval(lost, samples)
    method = f"bootstrap over {weights.resampled}"
    return tidy.row(STUDY, keys, "auc drop", lost, low=low, high=high, n=texts, method=method, null=0.0)


def curve_rows(
    fprs: Array, observed: Array, samples: Array, weights: CombinationWeights, texts: int, keys: Mapping[str, Any]
) -> Rows:
    """Tidy rows of a mean ROC curve: TPR (fpr,) with replicates (replicate, fpr), at key fpr."""
    method = f"bootstrap over {weights.resampled}"
    for at, (fpr, (low, high)) in enumerate(zip(fprs, weights.intervals(observed, samples), strict=True)):
        own = {**keys, "fpr": f"{fpr:.6g}"}
        yield tidy.row(STUDY, own, "roc_tpr", observed[at], low=low, high=high, n=texts, method=method, null=fpr)


def likelihood_row(metrics: AttackMetrics, likelihoods: Array, attack: str, **keys: Any) -> dict[str, Any]:
    """Rank correlation over combinations of the AUC with the reference's mean log-likelihood (combination,)."""
    value = spearman(metrics.observed[attack][:, 0], likelihoods)
    low, high = intervals.spearman(value, len(likelihoods))
    facts = {"unit": "", "n": len(likelihoods), "method": "Spearman's rank correlation over combinations, Fisher's z"}
    return tidy.row(STUDY, keys | {"attack": attack}, "spearman", value, low=low, high=high, null=0.0, **facts)


def averaged(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Mean of several means over combinations, observed (metric,) and replicates (replicate, metric)."""
    return np.mean([one for one, _ in parts], 0), np.mean([samples for _, samples in parts], 0)


def metric_rows(
    metrics: AttackMetrics,
    keys: Mapping[str, Any],
    observed: Array,
    ends: Array,
    texts: int,
    resampled: str,
    *,
    difference: bool = False,
) -> Rows:
    """Tidy rows of metrics (metric,) with intervals (metric, 2); difference: their null is 0, not chance."""
    for at, (metric, (low, high)) in enumerate(zip(metrics.names, ends, strict=True)):
        method = f"bootstrap over {resampled}{metrics.notes[at]}"
        named, null = (f"{metric} difference", 0.0) if difference else (metric, metrics.chance[at])
        yield tidy.row(STUDY, keys, named, observed[at], low=low, high=high, n=int(texts), method=method, null=null)
