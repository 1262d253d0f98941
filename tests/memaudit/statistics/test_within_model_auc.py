"""AUCs within models against the ROC, their replicates against repeated records, coverage, and the null of coins."""

import numpy as np
import pytest

from memaudit.statistics import roc
from memaudit.statistics.bootstrap import Weights
from memaudit.statistics.within_model_auc import (
    auc_replicates,
    interval,
    model_pair_weights,
    permuted_coins,
    permuted_scores,
    within_model_auc,
)

PAIR = np.tile(np.arange(12), 2)


def coins(rng, models=8, pair=PAIR):
    """Memberships (model, record): one record of each pair, models 2 k and 2 k + 1 with opposite coins."""
    first = np.arange(len(pair)) < len(pair) // 2
    return permuted_coins(np.resize([first, ~first], (models, len(pair))), pair, 1, rng)[0]


def test_the_auc_of_each_model_is_that_of_the_roc_with_ties():
    rng = np.random.default_rng(0)
    scores, member = rng.integers(0, 6, (8, 24)).astype(float), coins(rng)
    found = within_model_auc(scores, member)
    assert found == pytest.approx([roc.auc(*one) for one in zip(scores, member, strict=True)], abs=1e-12)
    assert (within_model_auc(np.zeros(24), member) == 0.5).all()


def test_a_replicate_is_the_mean_auc_of_the_models_and_records_that_it_repeats():
    rng = np.random.default_rng(1)
    scores, member = rng.integers(0, 6, (8, 24)).astype(float), coins(rng)
    weights = model_pair_weights(8, PAIR, 5, rng)
    for at, found in enumerate(auc_replicates(scores, member, weights)):
        times = weights.records[at].astype(int)
        repeated = (np.repeat(part, times, axis=1) for part in (scores, member))
        areas = within_model_auc(*repeated)
        assert found == pytest.approx(np.average(areas, weights=weights.models[at]))
    once = Weights(np.ones((1, 8)), np.ones((1, 24)))
    assert auc_replicates(scores, member, once)[0] == pytest.approx(within_model_auc(scores, member).mean())


def test_weights_draw_opposite_models_and_the_records_of_a_pair_together():
    weights = model_pair_weights(8, PAIR, 30, np.random.default_rng(2))
    assert (weights.models[:, ::2] == weights.models[:, 1::2]).all()
    assert (weights.records[:, :12] == weights.records[:, 12:]).all()
    assert weights.units == pytest.approx(12)


def test_permuted_coins_keep_one_member_of_each_pair_and_opposite_models():
    member = coins(np.random.default_rng(3))
    drawn = permuted_coins(member, PAIR, 400, np.random.default_rng(4))
    assert (drawn[..., :12] ^ drawn[..., 12:]).all()
    assert (drawn[:, ::2] ^ drawn[:, 1::2]).all()
    assert abs(drawn.mean(0) - 0.5).max() < 0.15


def test_permuted_scores_are_those_of_each_permutation_alone(monkeypatch):
    rng = np.random.default_rng(5)
    signals, drawn = rng.normal(size=(8, 24)), permuted_coins(coins(rng), PAIR, 7, rng)
    monkeypatch.setattr("memaudit.statistics.within_model_auc.PERMUTED_ENTRIES", 3 * signals.size)
    for score in (lambda values, member: values * member, lambda values, member: (values * member).sum(0)):
        found = permuted_scores(score, signals, drawn)
        np.testing.assert_array_equal(found, np.stack([score(signals, one) for one in drawn]))


def test_the_interval_covers_the_mean_auc_of_other_models_and_records():
    """Records differ in how much they are memorized, models in the noise that their records share."""
    rng = np.random.default_rng(6)

    def drawn(models, pairs):
        pair = np.tile(np.arange(pairs), 2)
        member = coins(rng, models, pair)
        effect = rng.exponential(0.8, 2 * pairs)
        return rng.normal(size=(models, 2 * pairs)) + rng.normal(size=2 * pairs) + effect * member, member, pair

    truth = np.mean([within_model_auc(*drawn(2, 14)[:2]).mean() for _ in range(4000)])
    covered = 0
    for _ in range(200):
        scores, member, pair = drawn(16, 14)
        weights = model_pair_weights(16, pair, 100, rng)
        low, high = interval(auc_replicates(scores, member, weights), within_model_auc(scores, member).mean(), weights)
        covered += low <= truth <= high
    assert covered >= 0.93 * 200
