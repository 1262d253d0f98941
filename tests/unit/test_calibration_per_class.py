"""Thresholds per class: one FPR for every class, and never from the target model's own cells."""

import numpy as np
import pytest
from scipy.special import ndtr

from memaudit.calibration.calibrate import calibrate
from memaudit.errors import AuditError
from memaudit.evaluation import roc


def planted(models, records, classes, seed=0, leak=1.0):
    rng = np.random.default_rng(seed)
    design = rng.random((models, records)).argsort(0) < models // 2
    return rng.normal(size=design.shape) + leak * design, design, rng.integers(0, classes, records)


def test_each_score_is_the_share_of_lower_outsiders_of_its_class_in_the_other_models():
    signals, design, labels = planted(6, 12, 3)
    signals = np.round(signals)  # ties
    scores = calibrate(signals, design, "per_class", labels=labels)
    for model, record in np.ndindex(design.shape):
        others = np.arange(6) != model
        out = signals[others][:, labels == labels[record]][~design[others][:, labels == labels[record]]]
        share = np.mean((out < signals[model, record]) + (out == signals[model, record]) / 2)
        assert scores[model, record] == pytest.approx(share)


def test_one_class_has_the_auc_of_one_threshold():
    """Not to the last digit: each model's references leave out its own cells, a 64th of them."""
    signals, design, _ = planted(64, 60, 1)
    scores = calibrate(signals, design, "per_class", labels=np.zeros(60, int))
    assert roc.auc(scores, design) == pytest.approx(roc.auc(signals, design), abs=2e-3)


def test_an_offset_between_classes_costs_one_threshold_but_not_one_per_class():
    signals, design, labels = planted(64, 200, 2)
    signals += 50 * labels
    within = ndtr(2**-0.5)
    scores = calibrate(signals, design, "per_class", labels=labels)
    assert roc.auc(scores, design) == pytest.approx(within, abs=0.01)
    # Pairs of two classes, half of all, are decided by the class alone.
    assert roc.auc(signals, design) == pytest.approx((within + 0.5) / 2, abs=0.02)


def test_scores_do_not_change_when_the_signals_of_a_class_are_stretched():
    signals, design, labels = planted(16, 30, 3)
    stretched = np.where(labels == 1, np.exp(signals), np.where(labels == 2, 5 - 1 / (1 + np.exp(signals)), signals))
    scores = [calibrate(values, design, "per_class", labels=labels) for values in (signals, stretched)]
    np.testing.assert_array_equal(*scores)


def test_the_target_models_own_cells_are_no_references():
    signals, design, labels = planted(8, 20, 2)
    changed = signals.copy()
    changed[3, 1:] += 100
    before, after = (calibrate(values, design, "per_class", labels=labels) for values in (signals, changed))
    assert after[3, 0] == before[3, 0]
    out = ~design[3]
    out[0] = False
    assert (after[:3, 0] != before[:3, 0]).any() == (labels[out] == labels[0]).any()


def test_constant_signals_know_nothing():
    _, design, labels = planted(8, 20, 2)
    np.testing.assert_array_equal(calibrate(np.ones(design.shape), design, "per_class", labels=labels), 0.5)


def test_labels_that_do_not_fit_are_refused():
    signals, design, labels = planted(8, 20, 2)
    with pytest.raises(AuditError, match=r"\(19,\) labels"):
        calibrate(signals, design, "per_class", labels=labels[1:])


def test_a_class_that_no_other_model_is_without_is_refused():
    signals, design, labels = planted(8, 20, 2)
    labels[5], design[:, 5], design[2, 5] = 7, True, False
    with pytest.raises(AuditError, match="class of record 5"):
        calibrate(signals, design, "per_class", labels=labels)
