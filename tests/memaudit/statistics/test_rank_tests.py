"""Rank tests of single records and of samples, against scipy and planted gaps."""

import numpy as np
import pytest
from scipy import stats

from memaudit.statistics.rank_tests import detected_records, greater_p_values, membership_p_values


def grid(rng, gaps, models=256):
    design = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return design * gaps + rng.standard_normal(design.shape), design


def test_p_values_equal_scipys_mann_whitney_with_and_without_ties():
    rng = np.random.default_rng(4)
    signals, design = grid(rng, np.linspace(0, 1, 5), models=40)
    signals[:, 3] = signals[:, 3].round()
    for record, p_value in enumerate(membership_p_values(signals, design)):
        inside, outside = signals[design[:, record], record], signals[~design[:, record], record]
        assert p_value == pytest.approx(stats.mannwhitneyu(inside, outside, method="asymptotic").pvalue)


def test_a_constant_signal_detects_nobody():
    design = np.random.default_rng(5).random((64, 3)) < 0.5
    assert (membership_p_values(np.zeros((64, 3)), design) == 1).all()


def test_exposed_records_are_detected_and_nearly_none_after_permuting_the_design():
    rng = np.random.default_rng(6)
    gaps = np.repeat([0.0, 1.0], [150, 50])
    false = 0
    for _ in range(40):
        signals, design = grid(rng, gaps, models=128)
        false += detected_records(signals, design[rng.permutation(128)]).any()
    found = detected_records(signals, design)
    assert found[150:].mean() > 0.9
    assert found[:150].sum() <= 8
    assert false <= 6


def test_greater_p_values_equal_scipys_sample_by_sample_under_broadcasting():
    rng = np.random.default_rng(8)
    samples, others = rng.normal(0.5, 1, (3, 2, 7)).round(1), rng.normal(size=(3, 1, 11)).round(1)
    found = greater_p_values(samples, others)
    assert found.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        one = stats.mannwhitneyu(samples[i, j], others[i, 0], alternative="greater", method="asymptotic")
        assert found[i, j] == pytest.approx(one.pvalue)
