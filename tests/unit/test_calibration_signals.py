"""Signals that LiRA calibrates."""

import json

import numpy as np
import pytest

from memaudit.attacks.signals import hinge, logit_confidence


@pytest.fixture(scope="module")
def stat(project):
    text = (project / "tests" / "vectors" / "lira_small.json").read_text(encoding="utf-8")
    return {key: np.array(value) for key, value in json.loads(text)["stat"].items()}


def test_signals_equal_tensorflow_privacys(stat):
    np.testing.assert_allclose(logit_confidence(stat["logits"], stat["labels"]), stat["logit_score"], rtol=1e-9)
    np.testing.assert_allclose(hinge(stat["logits"], stat["labels"]), stat["hinge_score"], rtol=1e-9)


def test_a_confident_prediction_keeps_its_digits_where_one_minus_p_has_none():
    assert logit_confidence(np.array([60.0, 0.0]), 0) == pytest.approx(60.0, rel=1e-12)


def test_clip_bounds_both_ends_at_the_same_distance():
    logits = np.array([[400.0, 0.0], [-400.0, 0.0], [1.0, 0.0]])
    bound = np.log((1 - 1e-12) / 1e-12)
    np.testing.assert_allclose(logit_confidence(logits, np.zeros(3, int), clip=1e-12), [bound, -bound, 1.0])


def test_float32_logits_are_scored_in_float64():
    logits = np.array([[3.0, 1.0, -2.0]], np.float32)
    assert logit_confidence(logits, np.array([0])).dtype == np.float64
