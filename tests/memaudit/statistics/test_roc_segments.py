"""Curves over segments: the numbers of curves over all entries, with and without ties, under any weights."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.statistics import roc, roc_segments

FPRS = np.array([0.0, 0.003, 0.01, 0.1, 0.37, 0.5, 1.0])


def drawn(share, values, seed=0, count=400):
    """Scores with so many distinct values, membership, and weights of whole numbers; some are 0."""
    rng = np.random.default_rng(seed)
    member = rng.random(count) < share
    member[:2] = True, False
    scores = rng.integers(values, size=count) / 7 + member * 0.3
    return scores, member, rng.poisson(1.0, (20, count)) * rng.poisson(1.0, (20, count)).astype(float)


@pytest.mark.parametrize("share", [0.005, 0.05, 0.5, 0.97])
@pytest.mark.parametrize("values", [2, 9, 10**6])
def test_areas_and_rates_are_those_of_the_whole_curve(share, values):
    scores, member, weights = drawn(share, values)
    ranking = roc.rank(scores, member)
    for of_entry, (fpr, tpr) in zip(weights, roc_segments.curves(scores, member, weights), strict=True):
        whole = roc.curve(ranking, of_entry[ranking.order])
        if np.isnan(np.concatenate(whole)).any():
            assert np.isnan(fpr[-1] + tpr[-1])
            continue
        assert len(fpr) <= len(whole[0])
        assert roc.area(fpr, tpr) == pytest.approx(roc.area(*whole), abs=1e-12)
        np.testing.assert_allclose(roc.at_fpr(fpr, tpr, FPRS), roc.at_fpr(*whole, FPRS), atol=1e-12)
        mirrored = roc.at_fpr(1 - tpr[::-1], 1 - fpr[::-1], FPRS)
        np.testing.assert_allclose(mirrored, roc.at_fpr(1 - whole[1][::-1], 1 - whole[0][::-1], FPRS), atol=1e-12)


def test_a_curve_has_a_point_for_each_change_of_the_class():
    scores, member = np.array([6.0, 5.0, 4.0, 3.0, 3.0, 2.0, 1.0]), np.array([0, 0, 1, 1, 0, 0, 0], bool)
    ((fpr, tpr),) = roc_segments.curves(scores, member, [np.ones(7)])
    np.testing.assert_allclose(fpr, [0, 0.4, 0.4, 0.6, 1])
    np.testing.assert_allclose(tpr, [0, 0, 0.5, 1, 1])


def test_a_single_class_has_no_curve():
    with pytest.raises(AuditError, match="every cell here is of one class"):
        next(roc_segments.curves(np.arange(3.0), np.ones(3, bool), [np.ones(3)]))
