"""Rank thresholds: exact without a leak at any number of scores, whatever their distribution."""

import numpy as np
import pytest

from memaudit.statistics.rank_thresholds import rank_hits


@pytest.mark.parametrize("fpr", [0.1, 0.02])
@pytest.mark.parametrize("outside", [3, 9, 40])
def test_exchangeable_scores_pass_at_the_nominal_rate(fpr, outside):
    rng = np.random.default_rng(outside)
    scores = rng.standard_t(2, size=(40_000, outside + 4))
    member = np.arange(outside + 4) < 4
    inside, passed = rank_hits(scores, np.broadcast_to(member, scores.shape), fpr)
    assert inside.mean() / 4 == pytest.approx(fpr, abs=0.004)
    np.testing.assert_allclose(passed / outside, fpr)


def test_a_whole_rank_is_a_plain_threshold():
    scores = np.array([[9.0, 8.0, 7.0, 6.0, 8.5, 6.5, 9.5]])
    member = np.array([[False] * 4 + [True] * 3])
    inside, outside = rank_hits(scores, member, 0.4)  # k = 2 of 4: above 8
    assert inside[0] == 2
    assert outside[0] == pytest.approx(1.6)


def test_equal_scores_never_exceed_each_other():
    inside, outside = rank_hits(np.ones((1, 20)), np.arange(20)[None] < 10, 0.2)
    assert inside[0] == outside[0] == 0
