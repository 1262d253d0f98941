"""Split-half agreement appears where vulnerability differs between records and vanishes for permuted memberships."""

from itertools import pairwise

import numpy as np
import pytest

from memaudit.errors import AuditError
from memaudit.statistics.split_half_agreement import (
    agreement_by_models,
    spearman_brown,
    split_half,
)


def grid(rng, gaps, models=256):
    design = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return design * gaps + rng.standard_normal(design.shape), design


def test_halves_agree_on_unlike_records_and_not_under_a_permuted_design():
    rng = np.random.default_rng(0)
    signals, design = grid(rng, np.linspace(0, 2, 200))
    real = split_half(signals, design, rng, splits=20)
    null = split_half(signals, design[rng.permutation(len(design))], rng, splits=20)
    assert real["spearman"].min() > 0.8
    assert real["overlap_10%"].mean() > 0.4
    assert abs(null["spearman"].mean()) < 0.1
    assert null["overlap_10%"].mean() == pytest.approx(0.1, abs=0.06)


def test_agreement_grows_with_the_models_and_spearman_brown_foresees_it():
    rng = np.random.default_rng(1)
    signals, design = grid(rng, 0.5 * rng.standard_normal(300), models=1024)
    rows = [row for row in agreement_by_models(signals, design, (128, 256, 512), rng, 15) if row.metric == "spearman"]
    assert [row.models for row in rows] == [128, 256, 512]
    assert rows[0].estimate < rows[1].estimate < rows[2].estimate
    for smaller, larger in pairwise(rows):
        assert smaller.extrapolated == pytest.approx(larger.estimate, abs=0.05)
    assert all(row.low <= row.estimate <= row.high and row.null_high < row.low for row in rows)


def test_spearman_brown_is_the_formula():
    assert spearman_brown(0.5) == pytest.approx(2 / 3)
    assert spearman_brown(1.0) == 1


def test_too_few_models_for_halves_says_so():
    rng = np.random.default_rng(3)
    with pytest.raises(AuditError, match=r"leave .*% of the records"):
        split_half(*grid(rng, np.zeros(50), models=6), rng)


def test_few_records_without_enough_models_are_left_out_of_a_split():
    rng = np.random.default_rng(7)
    signals, design = grid(rng, np.linspace(0, 3, 200), models=64)
    design[1:, 0] = False
    assert split_half(signals, design, rng, splits=5)["spearman"].min() > 0.5
