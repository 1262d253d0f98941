"""Scores behind the strategies: blocks, records left out, and halves that are fitted on the other models."""

import numpy as np
import pytest

from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.studies.lira.strategy_scores import crossfit_ratio, enough_shadows, score


def toy(models, records):
    rng = np.random.default_rng(0)
    membership = rng.random((models, records)).argsort(0) < models // 2
    return rng.normal(size=membership.shape) + membership, membership


def test_block_size_changes_nothing(monkeypatch):
    signals, membership = toy(32, 70)
    whole, halves = score(signals, membership), crossfit_ratio(signals, membership, np.arange(70), 32)
    monkeypatch.setattr("memaudit.attacks.lira.BLOCK_ENTRIES", 96)
    blocks = score(signals, membership)
    np.testing.assert_allclose(blocks.ratio, whole.ratio, rtol=1e-5)
    np.testing.assert_allclose(blocks.standard, whole.standard, rtol=1e-5)
    np.testing.assert_allclose(crossfit_ratio(signals, membership, np.arange(70), 32), halves, rtol=1e-5)


def test_scores_are_those_of_the_attacks_with_the_target_left_out():
    signals, membership = toy(32, 30)
    membership[:, 4] = True
    found, kept = score(signals, membership), np.arange(30) != 4
    assert found.left_out == 1
    ratio = calibrate(signals[:, kept], membership[:, kept], "lira", leave="self")
    np.testing.assert_allclose(found.ratio.T, ratio, rtol=1e-5)
    assert found.first(8).standard.shape == (29, 8)


def test_too_many_records_without_shadow_models_are_refused():
    membership = toy(32, 30)[1]
    membership[:, :4] = True
    with pytest.raises(AuditError, match=r"4 of 30 records .* raise lira\.models"):
        enough_shadows(membership)


def test_a_halfs_scores_do_not_depend_on_that_half():
    signals, membership = toy(32, 10)
    before = crossfit_ratio(signals, membership, np.arange(10), 32)
    changed = signals.copy()
    changed[3] += 5
    after = crossfit_ratio(changed, membership, np.arange(10), 32)
    untouched = np.delete(np.arange(16), 3)
    np.testing.assert_array_equal(after[:, untouched], before[:, untouched])
    assert (after[:, 16:] != before[:, 16:]).all()


def test_a_record_without_models_outside_a_half_has_no_score():
    signals, membership = toy(16, 6)
    membership[8:, 2] = False
    found = crossfit_ratio(signals, membership, np.arange(6), 16)
    assert np.isnan(found[2, :8]).all()
    assert not np.isnan(found[:2]).any()
