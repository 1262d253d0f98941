"""Shares of members and non-members by rank, and the threshold."""

import numpy as np

from memaudit.statistics import roc
from memaudit.statistics.score_histogram import EDGES, histogram


def simulated(gap):
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.repeat([[True, False]] * 100, 100, axis=1), axis=0)
    return rng.normal(gap * membership, 1), membership


def test_shares_of_each_side_sum_to_one_and_do_not_depend_on_the_unit():
    scores, membership = simulated(1.5)
    found, scaled = histogram(scores, membership, 0.01), histogram(np.exp(scores), membership, 0.01)
    assert np.isclose(found.members.sum(), 1)
    assert np.isclose(found.nonmembers.sum(), 1)
    assert np.array_equal(found.members, scaled.members)
    assert found.threshold == scaled.threshold


def test_the_share_above_the_threshold_is_the_true_positive_rate():
    scores, membership = simulated(1.5)
    found = histogram(scores, membership, 0.1)
    lefts, rights = EDGES[:-1], EDGES[1:]
    tpr = roc.tpr_at_fpr(scores, membership, [0.1])[0]
    assert found.members[lefts >= found.threshold].sum() <= tpr <= found.members[rights >= found.threshold].sum()


def test_without_a_leak_both_sides_are_alike_and_few_values_have_none():
    scores, membership = simulated(0)
    found = histogram(scores, membership, 0.01)
    assert np.abs(found.members - found.nonmembers).max() < 0.02
    assert histogram(np.round(scores), membership, 0.01) is None


def test_equal_scores_stand_at_their_mean_rank():
    scores, membership = simulated(0)
    tied = np.where(scores > 1, 99.0, scores)
    found = histogram(tied, membership, 0.01)
    share = (scores > 1)[membership].mean()
    assert np.isclose(found.members.max(), share, atol=0.03)
    assert found.members[-1] == 0
