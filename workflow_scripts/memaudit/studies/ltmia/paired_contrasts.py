"""Contrasts on the same texts: classifiers, numbers of combinations, groups of features, ratios of TPRs.

LT-MIA, Sections 4.2 and 5, Tables 2, 3 and 12, Figure 3. Texts are resampled alike on both sides, and models and
corpora are crossed random factors of the difference, so that what both sides find hard cancels.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memaudit.common import tidy
from memaudit.statistics.crossed_intervals import Crossed
from memaudit.studies.ltmia.transfer_bootstrap import STUDY, AttackMetrics

Rows = Iterator[dict[str, Any]]

HIERARCHY = ("comparison", "target", "reference")  # of groups of features, the most important first (Figure 3)


def contrast_row(metric: str, value: Crossed, null: float = 0.0, **keys: Any) -> dict[str, Any]:
    """Tidy row of a contrast with its interval."""
    low, high = value.interval()
    facts = {"low": low, "high": high, "null": null, "n": value.texts, "method": f"{value.method}, common weights"}
    return tidy.row(STUDY, {"source": "here", **keys}, metric, value.observed, **facts)


def ratio_row(metric: str, value: Crossed, **keys: Any) -> dict[str, Any]:
    """Tidy row of a ratio from the difference of its logarithms."""
    ratio, low, high = value.ratio()
    method = f"logarithm, {value.method}, common weights"
    facts = {"low": low, "high": high, "null": 1.0, "n": value.texts, "method": method}
    return tidy.row(STUDY, {"source": "here", **keys}, metric, ratio, **facts)


def classifier_rows(aucs: Mapping[str, Crossed], records: str) -> Rows:
    """AUC of the first classifier less that of each other one (Table 3)."""
    first, *others = aucs
    for name in others:
        named = {"classifier": f"{first} - {name}", "records": records}
        yield contrast_row("auc difference", aucs[first] - aucs[name], **named)


def diversity_rows(aucs: Mapping[tuple[int, str], Crossed], samples: int) -> Rows:
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


def importance_rows(lost: Mapping[str, Crossed], family: str) -> Rows:
    """AUC lost with one group of features less that with each less important one (Figure 3)."""
    ordered = [group for group in HIERARCHY if group in lost]
    for place, group in enumerate(ordered):
        for other in ordered[place + 1 :]:
            gap = lost[group] - lost[other]
            yield contrast_row("auc drop difference", gap, family=family, features=f"{group} - {other}")


def ratio_rows(metrics: AttackMetrics, attack: str, others: Sequence[str], nonmembers: int, **keys: Any) -> Rows:
    """TPR of an attack over that of others at each FPR, and the growth of the ratio to the smallest FPR (Table 2).

    nonmembers: fewest of a combination, a key of the rows: a TPR at an FPR needs at least 1 / FPR of them.
    """
    rates = [(place, name) for place, name in enumerate(metrics.names) if name.startswith("tpr@")]
    logs = {name: [mean.logarithm() for mean in metrics.means(name)] for name in (attack, *others)}
    for other in others:
        named = {**keys, "attack": f"{attack} / {other}", "nonmembers": nonmembers}
        of_rate = []
        for place, rate in rates:
            of_rate.append(logs[attack][place] - logs[other][place])
            yield ratio_row(f"{rate} ratio", of_rate[-1], **named)
        if len(of_rate) > 1:
            yield ratio_row("ratio growth", of_rate[-1] - of_rate[0], **named)
