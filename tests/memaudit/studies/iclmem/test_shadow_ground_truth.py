"""LiRA over shadow models: known memory, none, controls, records that are memorized, and what correlates with it."""

import numpy as np
import pytest
from shadow_grids import shadow_grid

from memaudit.attacks.lira import log_likelihood_ratio
from memaudit.attacks.signals import logit_of_loss
from memaudit.common.errors import AuditError
from memaudit.statistics.permutation_tests import p_value
from memaudit.statistics.within_model_auc import within_model_auc
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT
from memaudit.studies.iclmem.shadow_ground_truth import (
    LIRA,
    PROBE_LIRA,
    agreement,
    effects,
    join_models,
    lira,
    memorized,
    shadow_scores,
)

STRONG = np.where(np.arange(42) % 21 < 5, 2.0, 0.0)  # of 14 trained pairs, 5 are memorized


def scores_of(seed=0, control=False, permutations=199, **planted):
    grid = shadow_grid(np.random.default_rng(seed), **planted)
    return shadow_scores(join_models([grid]), 10, control, permutations, seed=1)


def test_lira_sees_what_one_model_hides_under_the_differences_between_records():
    scores = scores_of(in_context=0.4)
    p = p_value(scores.aucs[LIRA].mean(), scores.permuted_aucs(LIRA))
    assert p <= 0.01
    assert scores.aucs[LIRA].mean() > 0.7
    assert scores.aucs[PROBE_LIRA].mean() < 0.6


def test_scores_are_the_projects_lira_of_the_logit_confidence():
    grid = shadow_grid(np.random.default_rng(0), in_context=0.4)
    scores = shadow_scores(grid, 10, False, 3, seed=1)
    trained = ~grid.control.values
    signals = logit_of_loss(grid.in_context.sel(stage=10).values[:, trained, 0])
    np.testing.assert_allclose(scores.scores(LIRA), log_likelihood_ratio(signals, scores.member))
    of_numbers = shadow_scores(grid.assign_attrs(classes=0), 10, False, 3, seed=1)
    np.testing.assert_allclose(of_numbers.values[LIRA], -grid.in_context.sel(stage=10).values[:, trained, 0])
    change = grid.in_context.sel(stage=10) - grid.in_context.sel(stage=0)
    np.testing.assert_allclose(scores.values[IN_CONTEXT], -change.values[:, trained, 0])
    np.testing.assert_array_equal(scores.scores("loss"), scores.values["loss"])


def test_permuted_aucs_of_lira_are_of_scores_of_the_permuted_coins():
    scores = scores_of(in_context=0.4, permutations=5)
    for member, found in zip(scores.permuted, scores.permuted_aucs(LIRA), strict=True):
        assert found == pytest.approx(within_model_auc(lira(scores.values[LIRA], member), member).mean())


@pytest.mark.parametrize("control", [False, True])
def test_without_memory_lira_rejects_at_the_nominal_rate(control):
    planted = {"in_context": 0.5 if control else 0.0}
    found = [scores_of(seed, control, 99, **planted) for seed in range(120)]
    rejected = np.mean([p_value(one.aucs[LIRA].mean(), one.permuted_aucs(LIRA)) <= 0.05 for one in found])
    assert rejected <= 0.10
    assert rejected >= 0.01


def test_memorized_records_are_found_and_no_others():
    q, by_chance = memorized(scores_of(in_context=STRONG, permutations=1999))
    planted = STRONG[np.arange(42) % 21 < 14] > 0
    assert (q[planted] <= 0.05).all()
    assert (q[~planted] <= 0.05).sum() <= 1
    assert by_chance.mean() < 0.5


def test_effects_are_those_of_members_less_those_of_others_in_deviations():
    rng = np.random.default_rng(0)
    member = np.tile([[True], [False]], (50, 6))
    signals = rng.normal(size=(100, 6)) + np.array([0, 0, 0, 2, 2, 2]) * member
    assert effects(signals, member) == pytest.approx([0, 0, 0, 2, 2, 2], abs=0.6)


def test_a_probe_that_ranks_memorized_records_correlates_and_a_blind_one_does_not():
    seeing = scores_of(in_context=STRONG, probe=STRONG, models=48, permutations=499)
    found = agreement(seeing, "loss", np.random.default_rng(0), 50)
    assert p_value(found.observed, found.null) <= 0.01
    assert found.low < found.observed < found.high
    blind = [scores_of(seed, in_context=STRONG, models=24, permutations=99) for seed in range(60)]
    drawn = [agreement(one, "loss", np.random.default_rng(0), 20) for one in blind]
    assert np.mean([p_value(one.observed, one.null) <= 0.05 for one in drawn]) <= 0.13


def test_shards_join_in_order_and_a_diverged_model_leaves_with_its_opposite():
    grid = shadow_grid(np.random.default_rng(0))
    joined = join_models([grid.isel(model=slice(12, 24)), grid.isel(model=slice(12))])
    assert joined.model.values.tolist() == list(range(24))
    broken = grid.copy(deep=True)
    broken.probe[5] = np.nan
    assert join_models([broken]).model.values.tolist() == [0, 1, 2, 3, *range(6, 24)]


def test_training_pairs_that_are_not_those_of_the_coins_are_refused():
    grid = shadow_grid(np.random.default_rng(0))
    grid.member[3, 0, 20] = True  # a control
    with pytest.raises(AuditError, match="the training pairs are not those of the coins"):
        join_models([grid])
