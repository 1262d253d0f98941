"""Scores of the registry against the number of shadow models: metrics, paired differences from LiRA, and nulls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.gaussian import least_shadows
from memaudit.attacks.registry import ON_ONE_MATRIX, on_confidence
from memaudit.common import tidy
from memaudit.common.arrays import Array, Codes, Floats, Mask
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate, interpolated, where_resolved
from memaudit.statistics.bootstrap import two_way_interval, two_way_weights
from memaudit.statistics.paired_differences import gaps, metric_samples, resolved_gaps
from memaudit.statistics.scorable_redraws import redraw

# Names in the results -> entries of the registry; the first is what the others are compared with.
SCORES = {
    name: ON_ONE_MATRIX[name]
    for name in (
        "lira mean",
        "lira fixed variance",
        "lira shrunk variance",
        "lira shared variance",
        "rmia",
        "rmia offline",
        "rmia offline estimated",
        "combined",
    )
}
BASELINE = "lira mean"
# Entries that compare a record with others that are in no model.
OF_POPULATION = {"rmia", "rmia offline", "rmia offline estimated", "combined"}
FEWEST_MODELS = 8
NULL_ENTRIES, MOST_REDRAWS = 40_000, 20  # entries behind a null: few models are redrawn more often


class Matrix(NamedTuple):
    """Signals (model, record) and membership of the records under attack; population: (model, z) signals of others,
    z = 0 if there are none: scores that need them are then left out.

    units: (record,) numbers of privacy units; block: models in which the matrix is balanced, None: it is not.
    """

    signals: Floats
    membership: Mask
    population: Floats
    units: Codes
    scheme: Scheme

    def first(self, models: int) -> "Matrix":
        """The first models, and the records with at least 2 shadow models on each side among them."""
        kept = least_shadows(self.membership[:models]) >= 2
        signals, membership = self.signals[:models, kept], self.membership[:models, kept]
        scheme = self.scheme.of_first(models)
        return Matrix(signals, membership, self.population[:models], self.units[kept], scheme)

    def scores(
        self, membership: Mask, rmia: Mapping[str, float], names: Iterable[str] = tuple(SCORES)
    ) -> Iterator[tuple[str, Array]]:
        """Name and scores (model, record) of some entries of `SCORES`, with this membership."""
        entries = computable({name: SCORES[name] for name in names}, self.population)
        attacks = on_confidence(entries, self.signals, self.population, rmia)
        for name, (values, method, options) in attacks.items():
            yield name, calibrate(values, membership, method, **options)


def computable(names: Mapping[str, str], population: Floats) -> dict[str, str]:
    """Those of the entries of the registry, by what they are called, that a population of so many records allows.

    population: (model, z); of none, entries that compare with them are left out.
    """
    return {called: name for called, name in names.items() if population.shape[1] or name not in OF_POPULATION}


def compare(
    matrix: Matrix,
    keys: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    rmia: Mapping[str, float],
    fprs: Sequence[float],
    replicates: int,
) -> Iterator[dict[str, Any]]:
    """Tidy rows of `intervals`, with the nulls of the scores.

    keys: of the results. The null is the mean over redrawn memberships: enough for `NULL_ENTRIES` entries, at most
    `MOST_REDRAWS`; 0 of a difference.
    """
    found = list(intervals(matrix, rng, rmia=rmia, fprs=fprs, replicates=replicates))
    nulls = _nulls(matrix, rng, rmia, fprs)
    for name, estimates in found:
        of_null = nulls.get(name, np.zeros(len(estimates)))
        for one, null in zip(estimates, of_null, strict=True):
            shown = {"low": one.low, "high": one.high, "n": one.n, "method": one.method, "null": null}
            yield tidy.row("lira", {**keys, "attack": name}, one.metric, one.estimate, **shown)


def intervals(
    matrix: Matrix, rng: np.random.Generator, *, rmia: Mapping[str, float], fprs: Sequence[float], replicates: int
) -> Iterator[tuple[str, list[Estimate]]]:
    """AUC and TPRs of every score with two-way intervals, and less LiRA's under the same weights; with the name.

    rmia: gamma and offline_a of the config.
    """
    metrics = ["auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    weights = two_way_weights(*matrix.membership.shape, replicates, rng, matrix.units)
    notes, baseline = interpolated(matrix.membership, fprs), None
    for name, scores in matrix.scores(matrix.membership, rmia):
        observed, samples = metric_samples(scores, matrix.membership, fprs, weights)
        ends = [
            two_way_interval(sample, value, weights, 0, 1) for value, sample in zip(observed, samples.T, strict=True)
        ]
        ends[1:] = where_resolved(ends[1:], fprs, matrix.membership)
        parts = zip(metrics, observed, ends, notes, strict=True)
        yield (
            name,
            [
                Estimate(
                    metric,
                    value,
                    *of_metric,
                    scores.size,
                    f"two-way bootstrap, {replicates} replicates{note}",
                    np.nan,
                )
                for metric, value, of_metric, note in parts
            ],
        )
        if baseline is None:
            baseline = observed, samples
            continue
        found = gaps(metrics, observed - baseline[0], samples - baseline[1], scores.size, weights)
        yield f"{name} - {BASELINE}", resolved_gaps(found, fprs, matrix.membership)


def _nulls(
    matrix: Matrix, rng: np.random.Generator, rmia: Mapping[str, float], fprs: Sequence[float]
) -> dict[str, Array]:
    """Mean metrics (metric,) of every score where membership is redrawn."""
    found = {name: [] for name in SCORES}
    for _ in range(min(-(-NULL_ENTRIES // matrix.membership.size), MOST_REDRAWS)):
        membership = redraw(matrix.scheme, matrix.membership, matrix.units, rng)
        for name, scores in matrix.scores(membership, rmia):
            curve = roc.curve(roc.rank(scores, membership))
            found[name].append([roc.area(*curve), *roc.at_fpr(*curve, fprs)])
    return {name: np.mean(values, axis=0) for name, values in found.items() if values}
