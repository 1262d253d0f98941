"""Split-half agreement: halves agree on records of unlike vulnerability, and on nothing where all are alike."""

import numpy as np
import pytest
from scipy import stats

from memaudit.common.errors import AuditError
from memaudit.statistics.record_vulnerability import Population
from memaudit.statistics.split_half_agreement import agreement_by_models, spearman_brown, split_half

RECORDS = 300


def grid(rng, gaps, models=64, balanced=True):
    drawn = rng.random((models, len(gaps)))
    membership = drawn.argsort(0).argsort(0) < models // 2 if balanced else drawn < 0.5
    return membership * gaps + rng.standard_normal(membership.shape), membership


def agreement(signals, membership, rng, splits=10, lists=None):
    found = agreement_by_models(signals, membership, [len(signals)], rng, splits, lists)
    return {one.metric: one for one in found}


def test_halves_agree_on_unlike_records():
    rng = np.random.default_rng(0)
    found = agreement(*grid(rng, np.linspace(0, 3, RECORDS), 128), rng, lists={"listed": 20})
    assert found["spearman"].estimate > 0.8
    assert found["listed"].estimate > 0.35
    assert found["listed"].p_value < 1e-3
    assert found["listed"].low <= found["listed"].estimate <= found["listed"].high
    assert found["listed"].null == pytest.approx(20 / RECORDS)


@pytest.mark.parametrize("leak", [0.0, 1.0])
@pytest.mark.parametrize("balanced", [True, False])
def test_lists_of_records_that_leak_alike_agree_by_chance(leak, balanced):
    """Also where all leak: rank correlations and overlaps are those of independent rankings."""
    rng = np.random.default_rng(1)
    audits = [agreement(*grid(rng, np.full(RECORDS, leak), 32, balanced), rng, 6, {"listed": 20}) for _ in range(20)]
    assert np.mean([one["listed"].estimate for one in audits]) == pytest.approx(20 / RECORDS, abs=0.03)
    assert sum(one["listed"].p_value <= 0.05 for one in audits) <= 2
    assert abs(np.mean([one["spearman"].estimate for one in audits])) < 0.05


def test_a_ranking_may_agree_at_the_top_alone():
    """Few leaking records: no rank correlation over all records, but the list is the same."""
    rng = np.random.default_rng(2)
    found = agreement(*grid(rng, np.where(np.arange(RECORDS) < 10, 3.0, 0.0), 64), rng, lists={"listed": 10})
    assert found["spearman"].estimate < 0.2
    assert found["listed"].estimate > 0.7
    assert found["listed"].p_value < 1e-6


def test_p_values_are_those_of_the_hypergeometric_distribution():
    rng = np.random.default_rng(3)
    signals, membership = grid(rng, np.linspace(0, 1, RECORDS), 32)
    split = split_half(signals, membership, Population.fit(signals, membership, rng), rng, [15])
    ways = stats.hypergeom(RECORDS, 15, 15).pmf(np.arange(16))
    assert split.p_values[0] == pytest.approx(ways[split.shared[0] :].sum())


@pytest.mark.parametrize("draw", [lambda rng: rng.normal(0, 0.7, RECORDS), lambda rng: np.abs(rng.standard_t(2, 300))])
def test_spearman_brown_predicts_the_rank_correlation_of_two_grids(draw):
    rng, predicted, observed = np.random.default_rng(4), [], []
    for _ in range(12):
        gaps = draw(rng)
        grids = [grid(rng, gaps, 64) for _ in range(2)]
        found = agreement(*grids[0], rng, 8, {"listed": 20})
        assert np.isnan(found["listed"].whole)
        predicted.append(found["spearman"].whole)
        population = Population.fit(*grids[0], rng)
        observed.append(stats.spearmanr(*[population.scores(*one) for one in grids]).statistic)
    assert np.mean(predicted) == pytest.approx(np.mean(observed), abs=0.07)


def test_sizes_are_subsets_and_shares_of_the_records_are_the_default_lists():
    rng = np.random.default_rng(5)
    rows = agreement_by_models(*grid(rng, rng.normal(0, 0.5, RECORDS), 128), [32, 128], rng, 8)
    assert [row.metric for row in rows] == 2 * ["spearman", "overlap_5%", "overlap_10%"]
    assert [row.models for row in rows] == 3 * [32] + 3 * [128]
    assert rows[0].estimate < rows[3].estimate
    assert rows[1].null == pytest.approx(0.05)
    assert np.isnan(rows[0].p_value)


def test_spearman_brown_is_the_formula():
    assert spearman_brown(0.5) == pytest.approx(2 / 3)
    assert spearman_brown(1.0) == 1


def test_too_few_models_for_halves_says_so():
    rng = np.random.default_rng(3)
    signals, membership = grid(rng, np.zeros(50), 6)
    with pytest.raises(AuditError, match=r"leave .*% of the records"):
        split_half(signals, membership, Population.fit(signals, membership, rng), rng, [5])


def test_few_records_without_enough_models_are_left_out_of_a_split():
    rng = np.random.default_rng(7)
    signals, membership = grid(rng, np.linspace(0, 3, 200), 64)
    membership[2:, 0] = False
    membership[:2, 0] = True
    population = Population.fit(signals, membership, rng)
    assert split_half(signals, membership, population, rng, [10]).spearman > 0.5


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_records_of_constant_signals_are_not_named_by_both_halves_alike(share):
    """They have equal scores. In the order of the table, both halves would list the same ones: rejected in 10 of 10."""
    rejected = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        signals = np.where(rng.random(200) < share, 1.0, rng.normal(size=(16, 200)))
        membership = rng.random((16, 200)).argsort(0) < 8
        found = agreement_by_models(signals, membership, [16], rng, splits=9)
        rejected.append(found[-1].p_value <= 0.05)
    assert np.mean(rejected) <= 0.2
