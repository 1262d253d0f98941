"""Points and bins of the summary are those of the results."""

import numpy as np

from memaudit.auditing.summaries.score_curves import curves
from memaudit.common import tidy
from memaudit.statistics.score_histogram import EDGES
from memaudit.studies.audit.score_pictures import histogram_rows, roc_rows


def table(values=2000):
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.repeat([[True, False]] * 40, 50, axis=1), axis=0)
    scores = np.round(rng.normal(membership, 1), 3) if values > 10 else rng.integers(values, size=membership.shape)
    keys = {"model": "main", "attack": "strongest"}
    rows = [*roc_rows(scores, membership, keys, rng=rng, groups=np.arange(100), replicates=20)]
    return tidy.expand(tidy.frame([*rows, *histogram_rows(scores, membership, 0.01, keys)]))


def test_points_rise_and_bins_hold_all_answers():
    found = curves(table())
    fprs = [one.fpr for one in found.roc]
    assert fprs == sorted(fprs)
    assert all(one.low <= one.tpr <= one.high for one in found.roc)
    bins = found.scores.bins
    assert len(bins) == len(EDGES) - 1
    assert np.allclose([bins[0].low, bins[-1].high], EDGES[[0, -1]])
    assert np.isclose(sum(one.members for one in bins), 1)
    assert np.isclose(sum(one.nonmembers for one in bins), 1)
    assert (found.scores.members, found.scores.nonmembers) == (2000, 2000)


def test_few_values_have_no_bins_and_earlier_results_no_curves():
    few = curves(table(values=3))
    assert (few.scores, few.distinct) == (None, 3)
    assert few.roc
    earlier = tidy.expand(tidy.frame([tidy.row("audit", {"model": "main"}, "auc", 0.5)]))
    assert curves(earlier) is None
