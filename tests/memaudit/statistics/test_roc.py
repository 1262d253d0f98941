"""ROC curves: ties, weights, and FPRs that the cells cannot resolve."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from memaudit.common.errors import AuditError
from memaudit.statistics.roc import area, at_fpr, auc, curve, rank, resolved, tpr_at_fpr

FPRS = (0.0, 0.001, 0.1, 0.37, 1.0)


@pytest.fixture(params=[1000, 4])
def cells(request):
    """Scores with few and with many ties."""
    rng = np.random.default_rng(2)
    member = rng.random(500) < 0.4
    return np.round((rng.random(500) + 0.3 * member) * request.param), member


def test_a_constant_score_tells_nothing():
    member = np.arange(10) < 3
    assert auc(np.ones(10), member) == 0.5
    np.testing.assert_allclose(tpr_at_fpr(np.ones(10), member, FPRS), FPRS)


def test_ties_count_half(cells):
    assert auc(*cells) == pytest.approx(roc_auc_score(cells[1], cells[0]), abs=1e-12)


def test_perfect_scores_have_every_member_at_fpr_zero():
    member = np.arange(10) < 3
    np.testing.assert_array_equal(tpr_at_fpr(-np.arange(10.0), member, FPRS), 1.0)
    assert auc(-np.arange(10.0), member) == 1.0


def test_tpr_is_that_of_the_best_threshold_whose_fpr_is_not_above():
    rng = np.random.default_rng(0)
    scores, member = rng.normal(size=400), rng.random(400) < 0.5
    for fpr in (0.01, 0.05, 0.3):
        best = max((scores[member] > cut).mean() for cut in [*scores, -np.inf] if (scores[~member] > cut).mean() <= fpr)
        # Below the next non-member's score the curve rises no more: the members between the two are in.
        at = tpr_at_fpr(scores, member, [fpr])[0]
        assert best <= at <= best + np.diff(np.sort([(scores[member] > c).mean() for c in scores[~member]])).max()


def test_whole_weights_equal_repeated_cells(cells):
    scores, member = cells
    times = np.random.default_rng(1).integers(0, 4, size=500)
    ranking = rank(scores, member)
    fpr, tpr = curve(ranking, times[ranking.order].astype(float))
    repeated = scores.repeat(times), member.repeat(times)
    assert area(fpr, tpr) == pytest.approx(auc(*repeated), abs=1e-12)
    np.testing.assert_allclose(at_fpr(fpr, tpr, FPRS), tpr_at_fpr(*repeated, FPRS), atol=1e-12)


def test_the_top_of_a_ranking_gives_the_same_low_fprs(cells):
    ranking = rank(*cells)
    top = ranking.top(0.2)
    totals = np.array([cells[1].sum(), (~cells[1]).sum()])
    assert len(top.order) < len(ranking.order)
    np.testing.assert_allclose(
        at_fpr(*curve(top, np.ones(len(top.order)), totals), [0.01, 0.2]), tpr_at_fpr(*cells, [0.01, 0.2])
    )


def test_an_fpr_below_two_non_members_is_known_to_be_interpolated():
    member = np.arange(1500) < 500
    np.testing.assert_array_equal(resolved([0.1, 0.002, 0.0019], member), [True, True, False])


def test_one_class_alone_and_scores_that_are_no_numbers_are_refused():
    with pytest.raises(AuditError, match="one class"):
        auc(np.arange(3.0), np.ones(3, bool))
    with pytest.raises(AuditError, match="score 1 "):
        auc(np.array([0, np.nan, 1]), np.array([True, False, True]))
