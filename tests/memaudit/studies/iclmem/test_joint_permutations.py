"""Joint permutations of splits: exact without memory, as fine as needed, and no finer than the splits allow."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from memaudit.statistics.permutation_tests import p_value, q_value
from memaudit.studies.iclmem.joint_permutations import JointPermutations, SettingNulls, needed

TESTS = 100  # corrected together: 1,999 permutations are needed


def runs(settings, splits, names="wine"):
    return pd.DataFrame({"dataset": names, "split": np.tile(np.arange(splits), settings)})


def nulls(rng, settings, splits, permutations, seed=0, shift=0.0):
    """Observed means (setting,) and nulls, a data set each; with shift 0 the truth is one draw more of the permuted."""
    values = rng.normal(size=(settings * splits, permutations + 1))
    values[:, 0] += shift
    names = np.repeat([f"table {number}" for number in range(settings)], splits)
    joint = JointPermutations(runs(settings, splits, names), permutations, TESTS, seed)
    places = list(np.arange(settings * splits).reshape(settings, splits))
    of_settings = SettingNulls(joint, values[:, 0], values[:, 1:], places)
    return values[:, 0].reshape(settings, splits).mean(1), np.array([null.mean(0) for null in of_settings])


def test_as_many_are_drawn_as_a_single_detection_needs():
    assert [needed(tests) for tests in (8, TESTS, 620, 7244)] == [159, 1999, 12399, 144879]
    for tests in (8, TESTS, 7244):
        assert q_value(np.append(1 / (needed(tests) + 1), np.ones(tests - 1)))[0] <= 0.05
        assert q_value(np.append(1 / needed(tests), np.ones(tests - 1)))[0] > 0.05


@pytest.mark.parametrize("splits", [1, 2, 5])
def test_without_memory_p_values_keep_every_level(splits):
    """4,000 settings with 19 permutations of each split; also at .001, which none of 19 could reach."""
    observed, null = nulls(np.random.default_rng(splits), 4000, splits, 19)
    p = p_value(observed, null)
    for level in (0.001, 0.01, 0.05, 0.5):
        assert np.count_nonzero(p <= level) <= binom.ppf(0.999, len(p), level)
    # One split has p-values of about .05, .1, ... alone: a part of the smallest is above .05.
    assert np.count_nonzero(p <= 0.055) >= binom.ppf(0.001, len(p), 0.045)


def test_memory_in_several_splits_is_found_at_a_level_that_no_split_reaches():
    observed, null = nulls(np.random.default_rng(0), 20, 5, 99, shift=3.0)
    assert np.mean(p_value(observed, null) <= 0.05 / TESTS) > 0.9
    observed, null = nulls(np.random.default_rng(0), 20, 1, 99, shift=30.0)
    assert p_value(observed, null).min() > 0.003, "one split has a hundred memberships"


def test_runs_of_a_split_share_draws_which_depend_on_names_alone():
    values = np.arange(20.0)
    joint = JointPermutations(runs(2, 3), 19, TESTS, 7)
    drawn = [joint.of_run(run, -1.0, values[1:]) for run in range(6)]
    assert (drawn[0] == drawn[3]).all()
    assert (drawn[0] != drawn[1]).mean() > 0.9
    assert -1.0 in drawn[0], "the true membership is one of them"
    alone = JointPermutations(pd.DataFrame({"dataset": ["wine"], "split": [2]}), 19, TESTS, 7)
    assert (alone.of_run(0, -1.0, values[1:]) == drawn[2]).all()
    assert (JointPermutations(runs(2, 3), 19, TESTS, 8).of_run(0, -1.0, values[1:]) != drawn[0]).any()


def test_enough_permutations_of_the_runs_stay_as_they_are_and_diverged_splits_are_left_out():
    joint = JointPermutations(runs(1, 3), 1999, TESTS, 0)
    permuted = np.random.default_rng(0).normal(size=(3, 1999))
    permuted[1] = np.nan
    null = SettingNulls(joint, np.zeros(3), permuted, [np.arange(3)]).of(0)
    assert (null == permuted[[0, 2]]).all()
