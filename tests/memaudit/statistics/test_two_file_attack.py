"""Attack by two files: size and power of its test, coverage of its intervals, and its accusations."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.statistics import roc
from memaudit.statistics import two_file_attack as two_files

MEMBERS, OTHERS = 150, 100
MEMBER = np.arange(MEMBERS + OTHERS) < MEMBERS


def planted(rng, delta, member=MEMBER):
    """Four scores, of which the first has the largest AUC, Phi(delta / sqrt 2), and the last none."""
    base = rng.normal(size=len(member)) + delta * member
    more = {"noisy": base + rng.normal(size=len(member)), "coarse": (base > 0) * 1.0}
    scores = {"base": base, **more, "none": rng.normal(size=len(member))}
    return lambda _member, _half: scores


def test_the_auc_is_that_of_the_score_chosen_on_the_other_half():
    attacked = two_files.attack(planted(np.random.default_rng(0), 2), MEMBER, np.random.default_rng(0))
    assert list(attacked.chosen) == [0, 0]
    assert attacked.auc == pytest.approx(attacked.aucs[0].mean())
    assert attacked.strongest() == pytest.approx(attacked.values[0])
    for side, auc in zip(attacked.sides, attacked.aucs[0], strict=True):
        assert auc == roc.auc(attacked.values[0, side], MEMBER[side])
        assert (MEMBER[side].sum(), (~MEMBER[side]).sum()) == (MEMBERS // 2, OTHERS // 2)


def test_the_choice_of_one_half_does_not_see_it():
    """Each score is perfect in one half: the choice takes the one that is perfect in the other."""
    half = np.arange(MEMBERS + OTHERS) % 2 == 0
    values = np.array([np.where(half, MEMBER, 0.5), np.where(half, 0.5, MEMBER)])
    scorer = lambda _member, drawn: {"a": np.where(drawn, MEMBER, 0.5), "b": np.where(drawn, 0.5, MEMBER)}  # noqa: E731
    attacked = two_files.attack(scorer, MEMBER, np.random.default_rng(0))
    assert attacked.auc == 0.5
    assert values.shape == attacked.values.shape


def test_size_of_the_test_is_at_most_nominal():
    rng, rejected = np.random.default_rng(1), []
    member = np.arange(60) < 30
    for _ in range(150):
        scorer = planted(rng, 0, member)
        attacked = two_files.attack(scorer, member, rng)
        rejected.append(two_files.max_t_p_value(attacked, two_files.permuted(scorer, member, rng, 19)) <= 0.05)
    # 150 draws of an exact test of size .05 reject more than 16 times with probability .001.
    assert sum(rejected) <= 16


def test_intervals_cover():
    rng, delta, covered = np.random.default_rng(2), 0.7, []
    truth = norm.cdf(delta / np.sqrt(2))
    for _ in range(80):
        scores = planted(rng, delta)(None, None)
        attacked = two_files.attack(lambda _m, _h, scores=scores: scores, MEMBER, rng)
        weights = two_files.unit_weights(attacked, 100, rng)
        _, low, high = two_files.auc_interval(attacked, attacked.values[0], weights)
        _, below, above = two_files.excess_interval(attacked, attacked.values[0], scores["none"], weights)
        covered.append((low <= truth <= high, below <= truth - 0.5 <= above))
    # Fewer than 69 of 80 are less likely than .001 at a coverage of .95.
    assert (np.sum(covered, axis=0) >= 69).all()


def test_the_smallest_auc_is_detected_with_probability_four_fifths():
    rng = np.random.default_rng(3)
    smallest = two_files.smallest_auc(two_files.permuted(planted(rng, 0), MEMBER, rng, 99), MEMBER)
    delta, found = norm.ppf(smallest) * np.sqrt(2), []
    for _ in range(40):
        scorer = planted(rng, delta)
        attacked = two_files.attack(scorer, MEMBER, rng)
        weights = two_files.unit_weights(attacked, 60, rng)
        interval = two_files.auc_interval(attacked, attacked.strongest(), weights)
        p = two_files.max_t_p_value(attacked, two_files.permuted(scorer, MEMBER, rng, 39))
        found.append(two_files.detected(interval, p))
    assert 0.65 <= np.mean(found) <= 0.95


def test_a_constant_score_has_no_smallest_auc():
    null = np.full((2, 19), 0.5)
    assert two_files.smallest_auc(null, MEMBER) is None


def test_without_a_leak_members_are_accused_as_often_as_non_members():
    rng, member = np.random.default_rng(4), np.arange(1000) < 400
    rates = []
    for _ in range(40):
        accused = two_files.accuse(two_files.attack(planted(rng, 0, member), member, rng), 0.02)
        rates.append([accused.tpr[0], accused.fpr[0]])
    tpr, fpr = np.mean(rates, axis=0)
    assert tpr == pytest.approx(fpr, abs=0.004)
    # The choice among four scores raises both a little.
    assert 0.016 < fpr < 0.028


def test_accusations_of_a_leak_are_right_and_without_a_false_one_have_no_estimate():
    rng, member = np.random.default_rng(5), np.arange(1000) < 400
    accused = two_files.accuse(two_files.attack(planted(rng, 3, member), member, rng), 0.02)
    assert accused.p_value < 1e-6
    estimate, low, high = accused.precision(0.5)
    assert 0.9 < low < estimate < high <= 1
    none = two_files.Accused(400, 100, 600, 0, 0.0)
    estimate, low, high = none.precision(0.5)
    assert np.isnan(estimate)
    assert 0.9 < low < high == 1


def test_too_few_non_members_give_no_threshold():
    assert two_files.enough_for(0.01, np.arange(500) < 100)
    assert not two_files.enough_for(0.01, np.arange(499) < 100)


def test_false_positive_rates_count_other_non_members():
    values, half = np.array([[3.0, 2.0, 1.0, 2.0, 5.0, 1.0, 0.0, 9.0]]), np.array([True] * 4 + [False] * 4)
    member = np.array([True, False, False, True] * 2)
    attacked = two_files.Attacked(["a"], values, member, half, np.zeros((1, 2)), np.zeros(2, int))
    assert list(two_files.false_positive_rates(attacked)) == [0, 0, 1, 0.5, 0, 0, 1, 0]


def test_the_smaller_file_counts():
    assert two_files.fewer_units(MEMBER) == OTHERS
    assert two_files.permutation_p_value(0.6, np.array([0.5, 0.7, 0.4])) == 0.5
