"""Tidy rows of what an audit's page draws of the strongest score: its ROC curve with a band, and a score histogram.

Both are of the score that was chosen for accusations, so that the curve passes through the TPRs of the headline.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import STRICT_ROC_FPRS, roc_band
from memaudit.statistics.score_histogram import EDGES, histogram
from memaudit.statistics.strongest_score import TPR, Panel, composite

STUDY = "audit"
Row = dict[str, Any]


def picture_rows(
    panel: Panel, chosen: Mapping[str, Sequence[str]], keys: Mapping[str, Any], params: Any
) -> Iterator[Row]:
    """Rows of `roc_rows` and `histogram_rows` of the score chosen for accusations.

    chosen: of `strongest_score.choose`; keys: of the strongest score's results; params: of the job, with `seed`,
    `attacks` and `audit`.
    """
    scores = composite(panel, chosen[TPR])
    rng = seeds.generator(params.seed, STUDY, *map(str, keys.values()), "pictures")
    replicates = params.attacks["replicates"]
    yield from roc_rows(scores, panel.membership, keys, rng=rng, groups=panel.groups, replicates=replicates)
    yield from histogram_rows(scores, panel.membership, params.audit["fpr"], keys)


def roc_rows(scores: Array, membership: Mask, keys: Mapping[str, Any], **options: Any) -> Iterator[Row]:
    """Rows of metric "roc tpr" by key `roc fpr`, at those of `STRICT_ROC_FPRS` that have an interval.

    scores, membership: (model, target); options: rng, groups and replicates of `attack_performance.roc_band`.
    """
    fprs = STRICT_ROC_FPRS[roc.resolved(STRICT_ROC_FPRS, membership)]
    for fpr, (tpr, low, high) in zip(fprs, roc_band(scores, membership, fprs, **options), strict=True):
        of_fpr = {**keys, "roc fpr": f"{fpr:.6g}"}
        yield tidy.row(STUDY, of_fpr, "roc tpr", tpr, low=low, high=high, null=fpr, n=membership.size)


def histogram_rows(scores: Array, membership: Mask, fpr: float, keys: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of metric "scores in bin" by keys `side` and `bin`, of "score threshold", and of "distinct scores".

    fpr: of the threshold. Of the shares of `score_histogram.histogram`, where there are any; bin: its lower edge.
    """
    yield tidy.row(STUDY, keys, "distinct scores", len(np.unique(scores)), unit="count", n=scores.size)
    found = histogram(scores, membership, fpr)
    if found is None:
        return
    yield tidy.row(STUDY, keys, "score threshold", found.threshold, unit="normal score", n=scores.size)
    inside = np.count_nonzero(membership)
    for side, shares, n in (
        ("members", found.members, inside),
        ("non-members", found.nonmembers, scores.size - inside),
    ):
        for left, share in zip(EDGES[:-1], shares, strict=True):
            yield tidy.row(STUDY, {**keys, "side": side, "bin": f"{left:.3g}"}, "scores in bin", share, n=n)
