"""Thresholds of the strategies: against NumPy's quantiles, and where a strategy needs more models."""

import numpy as np
import pytest

from memaudit.studies.lira.strategy_scores import score
from memaudit.studies.lira.strategy_thresholds import (
    STRATEGIES,
    exceed,
    has_models,
    out_freedom,
    pooled_quantiles,
    rank_hits,
    record_quantiles,
    thresholds,
)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    membership = rng.random((64, 80)).argsort(0) < 32
    return score(rng.normal(size=membership.shape) + membership, membership)


def test_pooled_and_record_quantiles_are_those_of_numpy(scores):
    fprs = (0.1, 0.03)
    outside = scores.ratio[~scores.member].astype(float)
    assert pooled_quantiles(scores, "naive", fprs) == pytest.approx(np.quantile(outside, [0.9, 0.97]))
    own = [
        np.quantile(row[~member].astype(float), [0.9, 0.97])
        for row, member in zip(scores.ratio, scores.member, strict=True)
    ]
    np.testing.assert_allclose(record_quantiles(scores, fprs), own, rtol=1e-6)


def test_every_strategy_has_a_threshold_where_the_models_suffice(scores):
    of = thresholds(scores, (0.1, 0.01))
    assert {name for name, fpr in of if fpr == 0.1} == set(STRATEGIES) - {"per_sample_crossfit"}
    assert ("per_sample", 0.01) not in of
    assert of["pp_exact", 0.1].shape == (80, 2)


@pytest.mark.parametrize(
    ("strategy", "models", "fpr", "enough"),
    [("per_sample", 100, 0.01, True), ("per_sample", 64, 0.01, False), ("per_sample_crossfit", 400, 0.01, True),
     ("per_sample_crossfit", 256, 0.01, False), ("pp", 8, 0.001, True)],
)  # fmt: skip
def test_record_thresholds_need_models(strategy, models, fpr, enough):
    assert has_models(strategy, models, fpr) is enough


def test_single_precision_does_not_turn_an_equal_score_into_a_larger_one():
    score32, threshold = np.float32(0.1), np.float64(np.float32(0.1)) + 1e-12
    assert not exceed(np.array([[score32]]), np.float64(threshold), np.array([[True]]))[0, 0]
    assert exceed(np.array([[score32]]), np.float64(0.1) - 1e-9, np.array([[True]]))[0, 0]


def test_degrees_of_freedom_fall_with_the_shadow_models():
    rng = np.random.default_rng(0)
    found = []
    for models in (16, 128):
        membership = rng.random((models, 2000)).argsort(0) < models // 2
        found.append(out_freedom(score(rng.normal(size=membership.shape), membership)))
    assert found[0] < 15 < found[1]


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
