"""Contrasts under common bootstrap weights: classifiers, numbers of combinations, groups of features, ratios of TPRs.

LT-MIA, Sections 4.2 and 5, Tables 2, 3 and 12, Figure 3. Texts are resampled alike on both sides, so what both find
hard cancels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.studies.ltmia.transfer_bootstrap import STUDY, AttackMetrics, CombinationWeights

Rows = Iterator[dict[str, Any]]

LARGEST = 1000.0  # ratio, where the denominator is 0 or nearly so
HIERARCHY = ("comparison", "target", "reference")  # of groups of features, the most important first (Figure 3)


@dataclass(frozen=True)
class Replicated:
    """A quantity with its replicates (replicate,) and what it rests on.

    texts: their number; weights: of the combinations that are resampled, None where texts alone are.
    """

    observed: float
    samples: Array
    texts: int
    weights: CombinationWeights | None = None

    def __sub__(self, other: "Replicated") -> "Replicated":
        return self._with(other, self.observed - other.observed, self.samples - other.samples)

    def __truediv__(self, other: "Replicated") -> "Replicated":
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.divide([self.observed, *self.samples], [other.observed, *other.samples])
        observed, *samples = np.minimum(ratios, LARGEST)
        return self._with(other, float(observed), np.array(samples))

    def interval(self) -> tuple[float, float]:
        """95 % interval."""
        if self.weights is None:
            return bootstrap.interval(self.samples)
        return self.weights.interval(self.observed, self.samples)

    def _with(self, other: "Replicated", observed: float, samples: Array) -> "Replicated":
        both = [of.weights for of in (self, other) if of.weights is not None]
        fewest = min(both, key=lambda weights: weights.drawn.shape[1], default=None)
        return Replicated(observed, samples, min(self.texts, other.texts), fewest)


def contrast_row(metric: str, value: Replicated, null: float = 0.0, **keys: Any) -> dict[str, Any]:
    """Tidy row of a contrast with its interval."""
    low, high = value.interval()
    method = f"bootstrap over texts and combinations, {len(value.samples)} replicates, common weights"
    facts = {"low": low, "high": high, "null": null, "n": int(value.texts), "method": method}
    return tidy.row(STUDY, {"source": "here", **keys}, metric, value.observed, **facts)


def classifier_rows(aucs: Mapping[str, Replicated], records: str) -> Rows:
    """AUC of the first classifier less that of each other one (Table 3)."""
    first, *others = aucs
    for name in others:
        named = {"classifier": f"{first} - {name}", "records": records}
        yield contrast_row("auc difference", aucs[first] - aucs[name], **named)


def diversity_rows(aucs: Mapping[tuple[int, str], Replicated], samples: int) -> Rows:
    """AUC with the most combinations less that with the fewest, on held-out ones, and generalization gaps (Table 12).

    aucs: by number of combinations and records, "training" or "held out". The gap is the AUC on new texts of the
    training combinations less that on held-out ones.
    """
    counts = sorted({count for count, _ in aucs})
    gaps = {count: aucs[count, "training"] - aucs[count, "held out"] for count in counts}
    for count, gap in gaps.items():
        yield contrast_row("generalization gap", gap, combinations=count, samples=samples)
    if len(counts) > 1:
        fewest, most = counts[0], counts[-1]
        named = {"combinations": most, "less": fewest, "samples": samples}
        held_out = aucs[most, "held out"] - aucs[fewest, "held out"]
        yield contrast_row("auc difference", held_out, **named, records="held out")
        yield contrast_row("generalization gap difference", gaps[most] - gaps[fewest], **named)


def importance_rows(lost: Mapping[str, Replicated], family: str) -> Rows:
    """AUC lost with one group of features less that with each less important one (Figure 3)."""
    ordered = [group for group in HIERARCHY if group in lost]
    for place, group in enumerate(ordered):
        for other in ordered[place + 1 :]:
            gap = lost[group] - lost[other]
            yield contrast_row("auc drop difference", gap, family=family, features=f"{group} - {other}")


def ratio_rows(
    metrics: AttackMetrics,
    weights: CombinationWeights,
    attack: str,
    others: Sequence[str],
    nonmembers: int,
    **keys: Any,
) -> Rows:
    """TPR of an attack over that of others at each FPR, and the growth of the ratio to the smallest FPR (Table 2).

    nonmembers: fewest of a combination, a key of the rows: a TPR at an FPR needs at least 1 / FPR of them.
    """
    means = {
        name: (weights.mean(metrics.observed[name]), weights.means(metrics.samples[name])) for name in (attack, *others)
    }
    texts = int(metrics.texts.sum())
    rates = [(place, name) for place, name in enumerate(metrics.names) if name.startswith("tpr@")]
    for other in others:
        named = {**keys, "attack": f"{attack} / {other}", "nonmembers": nonmembers}
        of_rate = []
        for place, rate in rates:
            one, two = (Replicated(means[name][0][place], means[name][1][:, place], texts) for name in (attack, other))
            of_rate.append(one / two)
            yield contrast_row(f"{rate} ratio", of_rate[-1], 1.0, **named)
        if len(of_rate) > 1:
            yield contrast_row("ratio growth", of_rate[-1] / of_rate[0], 1.0, **named)
