"""Metrics of attacks on combinations of models and corpora that trained no classifier, with crossed intervals.

Texts are resampled, with the same weights for all combinations of one corpus and for all attacks, so that differences
are paired. Models and corpora are crossed random factors of every mean, difference and ratio (`crossed_intervals`), and
so are the seeds of a classifier that is a mean of several.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.attacks.calibrate import calibrate
from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import interpolated
from memaudit.statistics.crossed_intervals import Crossed, CrossedGrid, smallest
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_shown
from memaudit.statistics.mean_interval import half_width
from memaudit.statistics.paired_differences import metric_samples, observed_metrics
from memaudit.statistics.rank_correlation import spearman
from memaudit.statistics.signed_rank_test import signed_rank_rows

Rows = Iterator[dict[str, Any]]

STUDY = "ltmia"
COMBINATION = ["model", "dataset", "tuning"]


def is_combination(table: pd.DataFrame, names: Sequence[Sequence[str]]) -> np.ndarray:
    """Whether each row (row,) belongs to one of the named combinations."""
    chosen = {tuple(name) for name in names}
    return np.array([name in chosen for name in table[COMBINATION].itertuples(index=False, name=None)], dtype=bool)


@dataclass(frozen=True)
class AttackMetrics:
    """Metrics of attacks on combinations.

    keys: (combination,) model, family, dataset, ...; observed: attack -> (combination, metric); samples: attack ->
    (combination, replicate, metric); names: of the metrics, auc, then TPRs; chance: (metric,); texts: (combination,);
    notes: suffix of the method of each metric; repeats: attack -> (seed, combination, metric) without each of several
    seeds of a classifier.
    """

    keys: pd.DataFrame
    names: list[str]
    chance: Array
    observed: Mapping[str, Array]
    samples: Mapping[str, Array]
    texts: NDArray[np.int64]
    notes: list[str]
    repeats: Mapping[str, Array]

    def of(self, chosen: Mask) -> "AttackMetrics":
        """The metrics of some combinations."""
        return replace(
            self,
            keys=self.keys[chosen].reset_index(drop=True),
            observed={name: values[chosen] for name, values in self.observed.items()},
            samples={name: values[chosen] for name, values in self.samples.items()},
            texts=self.texts[chosen],
            repeats={name: values[:, chosen] for name, values in self.repeats.items()},
        )

    def means(self, attack: str) -> list[Crossed]:
        """The mean of every metric of an attack over the combinations, families weighing alike."""
        grid, texts, repeats = grid_of(self.keys), int(self.texts.sum()), self.repeats.get(attack)
        found = []
        for at in range(len(self.names)):
            without = None if repeats is None else repeats[..., at]
            values, samples = self.observed[attack][:, at], self.samples[attack][..., at]
            found.append(Crossed.mean(values, samples, grid, texts, without))
        return found


def attack_metrics(
    scores: pd.DataFrame, attacks: Sequence[str], fprs: Sequence[float], rng: np.random.Generator, replicates: int
) -> AttackMetrics:
    """Metrics of attacks on all combinations.

    scores: a row for each text of each combination, with columns model, dataset, tuning, id, member, a column for each
    attack and for each of its seeds ("attack seed 0", ...), and others that are keys of a combination. Texts of one
    corpus are resampled alike in all its combinations.
    """
    seeds = {attack: seed_columns(scores, attack) for attack in attacks}
    named = {*attacks, *(column for columns in seeds.values() for column in columns), "id", "member", *COMBINATION}
    others = [name for name in scores if name not in named]
    keys, observed, samples, texts = [], {name: [] for name in attacks}, {name: [] for name in attacks}, []
    repeats = {attack: [] for attack, columns in seeds.items() if len(columns) > 1}
    drawn: dict[tuple[str, int], Array] = {}
    fewest: Mask | None = None
    for name, own in scores.sort_values("id", kind="stable").groupby(COMBINATION, sort=False):
        weights = _text_weights((name[1], hash(tuple(own["id"]))), len(own), drawn, replicates, rng)
        member = own["member"].to_numpy(dtype=bool)[None]
        for attack in attacks:
            raw = calibrate(own[attack].to_numpy()[None], member, "raw")
            values, sample = metric_samples(raw, member, fprs, weights)
            observed[attack].append(values)
            samples[attack].append(sample)
        for attack, found in repeats.items():
            found.append(without_each(own[seeds[attack]].to_numpy(), member, fprs))
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
        {name: np.stack(values, 1) for name, values in repeats.items()},
    )


def _text_weights(
    corpus: tuple[str, int], texts: int, drawn: dict[tuple[str, int], Array], replicates: int, rng: np.random.Generator
) -> bootstrap.Weights:
    """Weights of the texts of a corpus, drawn when it is met first."""
    if corpus not in drawn:
        drawn[corpus] = bootstrap.two_way_weights(1, texts, replicates, rng).records
    return bootstrap.Weights(np.ones((replicates, 1)), drawn[corpus])


def seed_columns(scores: pd.DataFrame, attack: str) -> list[str]:
    """Columns of the scores by each seed of a classifier whose mean is the attack's score."""
    return [name for name in scores if str(name).startswith(f"{attack} seed ")]


def without_each(scores: Array, member: Mask, fprs: Sequence[float]) -> Array:
    """Metrics (seed, metric) of the mean of all seeds' scores (text, seed) but one; member: (1, text)."""
    means = (scores.sum(1, keepdims=True) - scores) / (scores.shape[1] - 1)
    return np.array([observed_metrics(calibrate(one[None], member, "raw"), member, fprs) for one in means.T])


def grid_of(keys: pd.DataFrame) -> CrossedGrid:
    """The grid of a mean over combinations with these keys: families weigh alike, and combinations of a family."""
    families = keys["family"].to_numpy()
    share = 1 / (len(set(families)) * np.array([np.count_nonzero(families == family) for family in families]))
    return CrossedGrid.of_mean(share, models=keys["model"].to_numpy(str), corpora=keys["dataset"].to_numpy(str))


def combination_rows(metrics: AttackMetrics, **keys: Any) -> Rows:
    """Tidy rows of every attack on every combination; only texts are resampled."""
    for attack, values in metrics.observed.items():
        for at, of in metrics.keys.iterrows():
            own = keys | {name: value for name, value in of.items() if pd.notna(value)} | {"attack": attack}
            texts, count = int(metrics.texts[at]), metrics.samples[attack].shape[1]
            parts = zip(metrics.names, values[at], metrics.samples[attack][at].T, metrics.notes, strict=True)
            for place, (metric, value, samples, note) in enumerate(parts):
                low, high = bootstrap.widened(samples, value, texts)
                facts = {"low": low, "high": high, "n": texts, "null": metrics.chance[place]}
                method = f"bootstrap over texts, {count} replicates{note}"
                yield tidy.row(STUDY, own, metric, value, method=method, **facts)


def mean_rows(metrics: AttackMetrics, **keys: Any) -> Rows:
    """Tidy rows of every attack's mean over the combinations."""
    for attack in metrics.observed:
        yield from metric_rows(metrics, keys | {"attack": attack}, metrics.means(attack))


def difference_rows(metrics: AttackMetrics, attack: str, **keys: Any) -> Rows:
    """Tidy rows of the paired differences of an attack from each other attack, with signed-rank tests (Section 4.2)."""
    for other in (name for name in metrics.observed if name != attack):
        own = keys | {"attack": f"{attack} - {other}"}
        gaps = [one - two for one, two in zip(metrics.means(attack), metrics.means(other), strict=True)]
        yield from metric_rows(metrics, own, gaps, difference=True)
        yield from signed_rank_rows(STUDY, own, gaps[0].values, "combinations")


def best_other_rows(metrics: AttackMetrics, attack: str, **keys: Any) -> Rows:
    """Tidy row of an attack's AUC minus that of the best other attack; `method` names this attack.

    Its interval is that of the smallest of all differences, since the data say which attack is the best. Without
    another attack there is no row.
    """
    others = [name for name in metrics.observed if name != attack]
    if not others:
        return
    gaps = [metrics.means(attack)[0] - metrics.means(name)[0] for name in others]
    best, low, high = smallest(gaps)
    method = f"{others[best]} has the largest AUC of {len(others)} attacks; {gaps[best].method}"
    ends = {"low": np.maximum(low, -1.0), "high": np.minimum(high, 1.0), "null": 0.0, "n": gaps[best].texts}
    own = keys | {"attack": f"{attack} - best other"}
    yield tidy.row(STUDY, own, "auc difference", gaps[best].observed, method=method, **ends)


def contrast_rows(one: AttackMetrics, other: AttackMetrics, **keys: Any) -> Rows:
    """Tidy rows of every attack's mean over some combinations minus that over others."""
    for attack in one.observed:
        pairs = zip(one.means(attack), other.means(attack), strict=True)
        gaps = [replace(first - second, texts=first.texts + second.texts) for first, second in pairs]
        yield from metric_rows(one, keys | {"attack": attack}, gaps, difference=True)


def drop_row(lost: Crossed, **keys: Any) -> dict[str, Any]:
    """Tidy row of the AUC lost where a group of features is permuted among texts."""
    low, high = lost.interval(-1, 1)
    facts = {"low": low, "high": high, "n": lost.texts, "method": lost.method, "null": 0.0}
    return tidy.row(STUDY, keys, "auc drop", lost.observed, **facts)


def curve_rows(fprs: Array, rates: Sequence[Crossed], keys: Mapping[str, Any]) -> Rows:
    """Tidy rows of a mean ROC curve: TPR at each FPR (fpr,), at key fpr."""
    for fpr, rate in zip(fprs, rates, strict=True):
        low, high = rate.interval(0, 1)
        facts = {"low": low, "high": high, "n": rate.texts, "method": rate.method, "null": fpr}
        yield tidy.row(STUDY, {**keys, "fpr": f"{fpr:.6g}"}, "roc_tpr", rate.observed, **facts)


def likelihood_row(metrics: AttackMetrics, likelihoods: Array, attack: str, **keys: Any) -> dict[str, Any]:
    """Rank correlation over combinations of the AUC with the reference's mean log-likelihood (combination,)."""
    value = spearman(metrics.observed[attack][:, 0], likelihoods)
    low, high = intervals.spearman(value, len(likelihoods))
    facts = {"unit": "", "n": len(likelihoods), "method": "Spearman's rank correlation over combinations, Fisher's z"}
    return tidy.row(STUDY, keys | {"attack": attack}, "spearman", value, low=low, high=high, null=0.0, **facts)


def metric_rows(
    metrics: AttackMetrics, keys: Mapping[str, Any], found: Sequence[Crossed], *, difference: bool = False
) -> Rows:
    """Tidy rows of metrics (metric,); difference: their null is 0, not chance."""
    for at, (metric, one) in enumerate(zip(metrics.names, found, strict=True)):
        low, high = one.interval(-1.0 if difference else 0.0, 1.0)
        named, null = (f"{metric} difference", 0.0) if difference else (metric, metrics.chance[at])
        facts = {"low": low, "high": high, "n": one.texts, "method": one.method + metrics.notes[at], "null": null}
        yield tidy.row(STUDY, keys, named, one.observed, **facts)


def null_rows(areas: Array, texts: int, attack: str) -> Rows:
    """Tidy rows of the mean AUC of classifiers of shuffled labels (classifier,), and of the AUC that it would show.

    Texts are as given: over labels at random the mean is one half for any texts, since either label is as likely.
    """
    count = len(areas)
    half, mean = half_width(areas), float(areas.mean())
    keys = {"source": "here", "control": "labels shuffled in training", "attack": attack}
    method = f"Student's t over {count} classifiers, each with labels of its own, on the same held-out texts"
    low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    yield tidy.row(STUDY, keys, "auc", mean, low=low, high=high, n=texts, method=method, null=0.5)
    least = 0.5 + smallest_shown(mean, mean - half, mean + half)
    method = f"shown by this interval with probability {POWER_OF_MEANS:g}"
    yield tidy.row(STUDY, keys, "smallest detectable auc", least, n=texts, method=method, null=0.5)


def too_few_rows(keys: Mapping[str, Any], fprs: Iterable[float], texts: pd.DataFrame) -> Rows:
    """Tidy rows without a value of the TPRs at FPRs for which a combination has fewer than 1 / FPR non-members."""
    for fpr in fprs:
        method = f"too few: a combination has fewer than {1 / fpr:.0f} non-members"
        yield tidy.row(STUDY, keys, f"tpr@{fpr:.3g}", tidy.NAN, n=len(texts), method=method, null=fpr)
