"""Groups: the one that leaks more is named, and of groups that leak alike none more often than stated."""

import numpy as np
import pytest

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.data import membership_matrices
from memaudit.statistics import group_comparison
from memaudit.statistics.group_comparison import (
    context_p_values,
    excess_means,
    excess_p_values,
    judge_groups,
    permuted_units,
    record_aucs,
    record_influence,
)
from memaudit.statistics.roc import auc
from memaudit.statistics.threat_models import ratio

RECORDS, MODELS, AUDITS = 400, 8, 200
SIZES = np.array([0.25, 0.2, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.03, 0.02, 0.02])  # of 12 groups


def groups(rng, columns, units=None):
    """Masks of 12 groups of unequal size in each column, (group, record); units: (record,) kept in one group."""
    codes = rng.choice(12, (columns, RECORDS), p=SIZES)
    codes = codes if units is None else codes[:, units]
    masks = np.concatenate([column == np.arange(12)[:, None] for column in codes])
    return masks[masks.sum(1) >= group_comparison.FEWEST]


def signals(rng, effects):
    membership = membership_matrices.balanced(MODELS, len(effects), rng)
    return membership * effects + rng.standard_normal(membership.shape), membership


def named(rng, effects, masks, units=None):
    """Which groups are named as leaking more than the others."""
    grid, membership = signals(rng, effects)
    values = record_aucs(calibrate(grid, membership, "lira"), membership)
    units = np.arange(RECORDS) if units is None else units
    return excess_p_values(values, masks, units, rng, 99) <= 0.05


@pytest.mark.parametrize("columns", [1, 3])
def test_groups_that_leak_alike_are_seldom_named(columns):
    """Interval of each group, used before: 19 % of audits of 12 groups name one, 47 % of 36 in three columns."""
    rng = np.random.default_rng(0)
    found = [named(rng, rng.exponential(1, RECORDS), groups(rng, columns)).any() for _ in range(AUDITS)]
    assert np.mean(found) <= 0.085  # .05 is expected; .085 is exceeded in 2 of 100 such tests


def test_a_group_that_only_varies_more_is_seldom_named():
    """The excess itself, not divided by its standard error, names a group in 33 % of these audits."""
    rng, found = np.random.default_rng(5), []
    codes = np.repeat(np.arange(6), [15] * 5 + [325])
    masks = codes == np.arange(6)[:, None]
    for _ in range(AUDITS):
        values = rng.standard_normal(RECORDS) * np.where(codes == 0, 4, 1)
        found.append((excess_p_values(values, masks, np.arange(RECORDS), rng, 99) <= 0.05).any())
    assert np.mean(found) <= 0.085


def test_groups_that_share_effects_of_contexts_are_seldom_named():
    """Of permuted units alone, one is named in 19 % of these audits."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        membership = membership_matrices.balanced(32, 144, rng)
        masks = np.repeat(np.eye(12, dtype=bool), 12, axis=1)
        shared = 2 * rng.standard_normal((32, 12)).repeat(12, axis=1)
        grid = rng.standard_normal(membership.shape) + 2 * membership + shared
        grid += 2 * rng.standard_normal((32, 1))
        units, values = np.arange(144), record_aucs(grid, membership)
        p_values = excess_p_values(values, masks, units, rng, 99)
        of_contexts = context_p_values(values, record_influence(grid, membership), masks, units)
        found.append([(p_values <= 0.05).any(), (np.maximum(p_values, of_contexts) <= 0.05).any()])
    before, after = np.mean(found, axis=0)
    assert before >= 0.1
    assert after <= 0.1  # .05 is expected; more than .1 happens by chance in 1 of 100 such tests


def test_influence_adds_up_to_nothing_within_a_record():
    rng = np.random.default_rng(2)
    grid, membership = signals(rng, rng.exponential(1, 30))
    found = record_influence(grid, membership)
    np.testing.assert_allclose((found * membership).sum(0), 0, atol=1e-12)
    np.testing.assert_allclose((found * ~membership).sum(0), 0, atol=1e-12)


def test_the_standard_error_of_the_excess_is_that_between_units():
    rng = np.random.default_rng(6)
    units = np.repeat(np.arange(120), 3)  # of each unit, one record in the group and two among the others
    mask = np.arange(360) % 3 == 0
    values = rng.standard_normal((2000, 120))[:, units] * np.where(mask, 3, 1) + rng.standard_normal((2000, 360))
    errors = group_comparison._excess_errors(values, mask[None], units)[:, 0]
    assert errors.mean() == pytest.approx(excess_means(values, mask[None]).std(), rel=0.05)


def test_units_of_two_records_do_not_count_twice():
    rng = np.random.default_rng(1)
    units = np.arange(RECORDS) // 2
    effects = np.repeat(rng.exponential(1.5, RECORDS // 2), 2)  # a person's records leak alike
    found = [named(rng, effects, groups(rng, 1, units), units).any() for _ in range(AUDITS)]
    assert np.mean(found) <= 0.085


def test_a_group_that_leaks_more_is_named_and_no_other():
    rng, right, wrong = np.random.default_rng(2), 0, 0
    for _ in range(20):
        masks = groups(rng, 1)
        found = named(rng, 1 + masks[5], masks)  # 6 % of the records, d = 2 in place of 1
        right, wrong = right + found[5], wrong + np.delete(found, 5).any()
    assert right >= 15
    assert wrong <= 3


def test_whole_units_are_permuted_among_units_of_their_size():
    units = np.array([0, 0, 1, 2, 2, 3, 4, 4, 4])
    rng = np.random.default_rng(3)
    for _ in range(20):
        moved = units[permuted_units(units, rng)]
        assert sorted(moved) == sorted(units)
        np.testing.assert_array_equal(moved[[0, 3, 6, 6]], moved[[1, 4, 7, 8]])
        assert set(moved[[2, 5]]) == {1, 3}
        assert (moved[6:] == 4).all()


def test_record_aucs_average_to_the_auc():
    rng = np.random.default_rng(4)
    grid, membership = signals(rng, np.linspace(0, 2, 40))
    assert record_aucs(grid, membership).mean() == pytest.approx(auc(grid, membership))


def test_the_excess_is_the_difference_of_means():
    values, mask = np.array([1.0, 2, 3, 6]), np.array([[True, False, False, True], [False, True, False, False]])
    assert excess_means(values, mask) == pytest.approx([1.0, -4 / 3])


def test_the_group_that_leaks_is_found_and_the_other_is_not():
    rng = np.random.default_rng(2)
    membership = membership_matrices.balanced(32, 120, rng)
    exposed = np.arange(120) < 40
    attack = ratio(rng.normal(size=membership.shape) + 2.0 * membership * exposed)
    members = {"exposed": exposed, "quiet": (np.arange(120) >= 40) & (np.arange(120) < 80), "few": np.arange(120) > 115}
    options = {"fprs": [0.1], "replicates": 100, "permutations": 99}
    found = judge_groups(attack, membership, members, np.arange(120), rng=rng, **options)
    assert found.keys() == {"exposed", "quiet"}
    assert found["exposed"].q_value <= 0.05
    assert found["exposed"].excess.low > 0.1
    assert found["exposed"].excess.detected
    assert found["quiet"].q_value > 0.05
    assert found["quiet"].excess.high < 0
    assert found["quiet"].excess.p_value > 0.5


def test_an_excess_whose_interval_includes_0_is_not_detected_whatever_its_p_value(monkeypatch):
    rng = np.random.default_rng(2)
    membership = membership_matrices.balanced(32, 120, rng)
    exposed = np.arange(120) < 40
    attack = ratio(rng.normal(size=membership.shape) + 2.0 * membership * exposed)
    options = {"fprs": [0.1], "replicates": 20, "permutations": 99, "rng": rng}
    for low in (0.01, -0.01):
        monkeypatch.setattr(group_comparison.bootstrap, "two_way_interval", lambda *args, low=low: (low, 0.5))
        excess = judge_groups(attack, membership, {"exposed": exposed}, np.arange(120), **options)["exposed"].excess
        assert excess.p_value <= 0.05
        assert excess.detected == (low > 0)


def test_no_group_is_compared_where_all_are_small():
    attack = ratio(np.zeros((8, 12)))
    options = {"fprs": [0.1], "replicates": 20, "permutations": 19, "rng": np.random.default_rng(0)}
    few = {"few": np.arange(12) < group_comparison.FEWEST - 1}
    assert judge_groups(attack, np.zeros((8, 12), bool), few, np.arange(12), **options) == {}


def test_the_excess_of_ten_records_that_differ_is_covered():
    rng, covered, units = np.random.default_rng(3), 0, np.arange(60)
    for _ in range(60):
        grid, membership = signals(rng, 0.5 + 3 * rng.standard_normal(60))
        options = {"fprs": [0.1], "rng": rng, "replicates": 80, "permutations": 19}
        excess = judge_groups(Attack(grid, "raw", {}), membership, {"one": units < 10}, units, **options)["one"].excess
        covered += excess.low <= 0 <= excess.high
    assert covered >= 53
