"""Thresholds per class: one FPR for every class, and ties that stay ties."""

import numpy as np
import pytest
from scipy.special import ndtr

from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.statistics import roc


def planted(models, records, classes, seed=0, leak=1.0):
    rng = np.random.default_rng(seed)
    design = rng.random((models, records)).argsort(0) < models // 2
    return rng.normal(size=design.shape) + leak * design, design, rng.integers(0, classes, records)


def test_each_score_is_the_share_of_lower_outsiders_of_its_class():
    signals, design, labels = planted(6, 12, 3)
    signals = np.round(signals)  # ties
    scores = calibrate(signals, design, "per_class", labels=labels)
    for model, record in np.ndindex(design.shape):
        out = signals[:, labels == labels[record]][~design[:, labels == labels[record]]]
        share = np.mean((out < signals[model, record]) + (out == signals[model, record]) / 2)
        assert scores[model, record] == pytest.approx(share)


def test_one_class_has_the_auc_of_one_threshold():
    signals, design, _ = planted(64, 60, 1)
    scores = calibrate(signals, design, "per_class", labels=np.zeros(60, int))
    assert roc.auc(scores, design) == pytest.approx(roc.auc(signals, design))


def test_yes_or_no_without_a_leak_has_an_auc_of_one_half():
    """Scored against the other models alone, members come out at .491, seven standard errors lower."""
    areas = []
    for seed in range(40):
        signals, design, labels = planted(64, 60, 3, seed, leak=0.0)
        signals += np.random.default_rng([seed, 1]).normal(size=(64, 1)) / 2
        areas.append(roc.auc(calibrate((signals > -1) * 1.0, design, "per_class", labels=labels), design))
    assert np.mean(areas) == pytest.approx(0.5, abs=0.003)


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


def test_equal_signals_of_a_class_have_equal_scores_in_every_model():
    signals, design, labels = planted(8, 20, 2)
    signals = np.round(signals)
    scores = calibrate(signals, design, "per_class", labels=labels)
    for label in (0, 1):
        for value in np.unique(signals):
            assert np.unique(scores[:, labels == label][signals[:, labels == label] == value]).size <= 1


def test_constant_signals_know_nothing():
    _, design, labels = planted(8, 20, 2)
    np.testing.assert_array_equal(calibrate(np.ones(design.shape), design, "per_class", labels=labels), 0.5)


def test_labels_that_do_not_fit_are_refused():
    signals, design, labels = planted(8, 20, 2)
    with pytest.raises(AuditError, match=r"\(19,\) labels"):
        calibrate(signals, design, "per_class", labels=labels[1:])


def test_a_class_that_no_model_is_without_is_refused():
    signals, design, labels = planted(8, 20, 2)
    labels[5], design[:, 5] = 7, True
    with pytest.raises(AuditError, match="class of record 5"):
        calibrate(signals, design, "per_class", labels=labels)
