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
from scipy.stats import spearmanr

from memaudit import tidy
from memaudit.arrays import Array
from memaudit.attacks.calibrate import calibrate
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import interpolated
from memaudit.statistics.paired_differences import metric_samples
from memaudit.statistics.signed_rank_test import signed_rank_rows

Rows = Iterator[dict[str, Any]]

STUDY = "ltmia"
COMBINATION = ["model", "dataset", "tuning"]
RESAMPLED = "texts and combinations"


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

    def of(self, chosen: NDArray[np.bool_]) -> "AttackMetrics":
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
    fewest: NDArray[np.bool_] | None = None
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

    Each family has the same weight; within it combinations are resampled, as many as there are.
    """

    share: Array
    weights: Array

    @classmethod
    def of(cls, families: Sequence[str], replicates: int, rng: np.random.Generator) -> "CombinationWeights":
        """Weights of combinations of these families (combination,)."""
        families = np.asarray(families)
        share, weights = np.empty(len(families)), np.empty((replicates, len(families)))
        for family in dict.fromkeys(families):
            own = families == family
            even = np.full(own.sum(), 1 / own.sum())
            share[own] = even
            weights[:, own] = rng.multinomial(own.sum(), even, size=replicates) / own.sum()
        return cls(share / share.sum(), weights / share.sum())

    def mean(self, values: Array) -> Array:
        """Mean (metric,) of values (combination, metric)."""
        return self.share @ values

    def means(self, samples: Array) -> Array:
        """Means (replicate, metric) of samples (combination, replicate, metric)."""
        return np.einsum("crm,rc->rm", samples, self.weights)


def combination_rows(metrics: AttackMetrics, **keys: Any) -> Rows:
    """Tidy rows of every attack on every combination; only texts are resampled."""
    for attack, values in metrics.observed.items():
        for at, of in metrics.keys.iterrows():
            own = keys | {name: value for name, value in of.items() if pd.notna(value)} | {"attack": attack}
            yield from metric_rows(metrics, own, values[at], metrics.samples[attack][at], metrics.texts[at], "texts")


def mean_rows(metrics: AttackMetrics, weights: CombinationWeights, **keys: Any) -> Rows:
    """Tidy rows of every attack's mean over the combinations."""
    for attack in metrics.observed:
        own = keys | {"attack": attack}
        observed, samples = weights.mean(metrics.observed[attack]), weights.means(metrics.samples[attack])
        yield from metric_rows(metrics, own, observed, samples, metrics.texts.sum())


def difference_rows(metrics: AttackMetrics, weights: CombinationWeights, attack: str, **keys: Any) -> Rows:
    """Tidy rows of the paired differences of an attack from each other attack, with signed-rank tests (Section 4.2)."""
    for other in (name for name in metrics.observed if name != attack):
        own = keys | {"attack": f"{attack} - {other}"}
        gap = metrics.observed[attack] - metrics.observed[other]
        samples = weights.means(metrics.samples[attack] - metrics.samples[other])
        yield from metric_rows(metrics, own, weights.mean(gap), samples, metrics.texts.sum(), difference=True)
        yield from signed_rank_rows(STUDY, own, gap[:, 0], "combinations")


def contrast_rows(
    one: AttackMetrics, other: AttackMetrics, weights: tuple[CombinationWeights, CombinationWeights], **keys: Any
) -> Rows:
    """Tidy rows of every attack's mean over some combinations minus that over others; weights: of the two groups."""
    for attack in one.observed:
        gap = weights[0].mean(one.observed[attack]) - weights[1].mean(other.observed[attack])
        samples = weights[0].means(one.samples[attack]) - weights[1].means(other.samples[attack])
        own, texts = keys | {"attack": attack}, one.texts.sum() + other.texts.sum()
        yield from metric_rows(one, own, gap, samples, texts, difference=True)


def drop_row(lost: float, samples: Array, texts: int, **keys: Any) -> dict[str, Any]:
    """Tidy row of the AUC lost where a group of features is permuted among texts; samples: (replicate,)."""
    low, high = bootstrap.interval(samples)
    method = f"bootstrap over texts and combinations, {len(samples)} replicates"
    return tidy.row(STUDY, keys, "auc drop", lost, low=low, high=high, n=texts, method=method, null=0.0)


def curve_rows(fprs: Array, observed: Array, samples: Array, texts: int, keys: Mapping[str, Any]) -> Rows:
    """Tidy rows of a mean ROC curve: TPR (fpr,) with replicates (replicate, fpr), at key fpr."""
    method = f"bootstrap over texts and combinations, {len(samples)} replicates"
    for at, fpr in enumerate(fprs):
        low, high = bootstrap.interval(samples[:, at])
        own = {**keys, "fpr": f"{fpr:.6g}"}
        yield tidy.row(STUDY, own, "roc_tpr", observed[at], low=low, high=high, n=texts, method=method, null=fpr)


def likelihood_row(metrics: AttackMetrics, likelihoods: Array, attack: str, **keys: Any) -> dict[str, Any]:
    """Rank correlation over combinations of the AUC with the reference's mean log-likelihood (combination,)."""
    value = spearmanr(metrics.observed[attack][:, 0], likelihoods).statistic
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
    samples: Array,
    texts: int,
    resampled: str = RESAMPLED,
    *,
    difference: bool = False,
) -> Rows:
    """Tidy rows of metrics (metric,) with replicates (replicate, metric); difference: their null is 0, not chance."""
    for at, metric in enumerate(metrics.names):
        low, high = bootstrap.interval(samples[:, at])
        method = f"bootstrap over {resampled}, {len(samples)} replicates{metrics.notes[at]}"
        named, null = (f"{metric} difference", 0.0) if difference else (metric, metrics.chance[at])
        yield tidy.row(STUDY, keys, named, observed[at], low=low, high=high, n=int(texts), method=method, null=null)
