"""Signals that LiRA calibrates."""

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from memaudit.attacks.signals import (
    confidence,
    correctness,
    density_loss,
    entropy,
    hinge,
    logit_confidence,
    logit_of_loss,
    loss,
    modified_entropy,
    prediction_gap,
)


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


OF_TRUTH = [loss, correctness, prediction_gap, modified_entropy, hinge, logit_confidence]
ALONE = [confidence, entropy]


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    return rng.normal(scale=3, size=(5, 40, 4)), rng.integers(0, 4, (5, 40))


def test_signals_are_their_formulas(answers):
    logits, labels = answers
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    own = np.take_along_axis(p, labels[..., None], -1)[..., 0]
    others = np.where(np.arange(4) == labels[..., None], 0, p)
    np.testing.assert_allclose(loss(logits, labels), -np.log(own))
    np.testing.assert_allclose(confidence(logits), p.max(-1))
    np.testing.assert_allclose(correctness(logits, labels), p.argmax(-1) == labels)
    np.testing.assert_allclose(prediction_gap(logits, labels), own - others.max(-1), atol=1e-14)
    np.testing.assert_allclose(entropy(logits), -(p * np.log(p)).sum(-1))
    published = -(1 - own) * np.log(own) - (others * np.log(1 - others)).sum(-1)
    np.testing.assert_allclose(modified_entropy(logits, labels), published)


def test_with_two_classes_modified_entropy_ranks_records_as_the_loss_does():
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(scale=10, size=(500, 2)), rng.integers(0, 2, 500)
    np.testing.assert_array_equal(rankdata(modified_entropy(logits, labels)), rankdata(loss(logits, labels)))
    np.testing.assert_allclose(prediction_gap(logits, labels), 2 * np.exp(-loss(logits, labels)) - 1, atol=1e-12)


def test_the_gap_has_the_sign_of_correctness(answers):
    np.testing.assert_array_equal(prediction_gap(*answers) > 0, correctness(*answers) == 1)


@pytest.mark.parametrize("signal", OF_TRUTH)
def test_an_absent_class_changes_nothing_for_the_others(signal, answers):
    logits, labels = answers
    wider = np.concatenate([logits, np.full((5, 40, 2), -np.inf)], -1)
    np.testing.assert_allclose(signal(wider, labels), signal(logits, labels), rtol=1e-12)


@pytest.mark.parametrize("signal", ALONE)
def test_an_absent_class_changes_nothing_for_an_answer(signal, answers):
    wider = np.concatenate([answers[0], np.full((5, 40, 2), -np.inf)], -1)
    np.testing.assert_allclose(signal(wider), signal(answers[0]), rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_a_true_class_that_the_model_does_not_know_is_the_worst_answer():
    logits, label = np.array([[1.0, 0.5, -np.inf]]), np.array([2])
    assert loss(logits, label) == np.inf
    assert modified_entropy(logits, label) == np.inf
    assert logit_confidence(logits, label) == -np.inf
    assert hinge(logits, label) == -np.inf
    assert correctness(logits, label) == 0
    assert prediction_gap(logits, label) == pytest.approx(-confidence(logits))


@pytest.mark.filterwarnings("error")
def test_a_context_of_one_class_is_certain():
    """Its logits are 0 there and -inf elsewhere."""
    logits = np.array([[-np.inf, 0.0, -np.inf]] * 2)
    labels = np.array([1, 0])
    np.testing.assert_array_equal(loss(logits, labels), [0, np.inf])
    np.testing.assert_array_equal(modified_entropy(logits, labels), [0, np.inf])
    np.testing.assert_array_equal(prediction_gap(logits, labels), [1, -1])
    np.testing.assert_array_equal(hinge(logits, labels), [np.inf, -np.inf])
    np.testing.assert_array_equal(confidence(logits), [1, 1])
    np.testing.assert_array_equal(entropy(logits), [0, 0])


def test_an_even_answer_has_the_least_confidence_and_the_most_entropy():
    even = np.zeros(5)
    assert confidence(even) == pytest.approx(1 / 5)
    assert entropy(even) == pytest.approx(np.log(5))
    assert correctness(even, 0) == 0, "a tie is no right answer"


def test_a_confident_answer_keeps_its_digits():
    """1 - p is 0 in float64 from a gap of 37 nats on."""
    right, wrong = np.array([60.0, 0.0]), np.array([0.0, 60.0])
    assert loss(right, 0) == pytest.approx(np.exp(-60.0), rel=1e-12)
    assert modified_entropy(right, 0) == pytest.approx(2 * np.exp(-120.0), rel=1e-9)
    assert modified_entropy(wrong, 0) == pytest.approx(120.0, rel=1e-12)


@pytest.mark.parametrize("signal", OF_TRUTH)
def test_float32_logits_are_scored_in_float64(signal, answers):
    logits, labels = answers
    single = logits.astype(np.float32)
    assert signal(single, labels).dtype == np.float64
    np.testing.assert_array_equal(signal(single, labels), signal(single.astype(np.float64), labels))


def test_regression_signals_rank_as_those_of_classes_do():
    """On normal predictions with errors of 0, 1 and 2 deviations."""
    deviation = np.array([1.0, 2.0, 4.0])
    mean = np.array([0.0, 1.0, 2.0])
    log_density = -0.5 * np.log(2 * np.pi) - np.log(deviation) - (mean / deviation) ** 2 / 2
    assert (np.diff(density_loss(log_density)) > 0).all()


def test_the_logit_of_a_loss_is_the_logit_confidence_also_of_a_certain_prediction():
    logits, labels = np.array([[0.3, -1.2, 2.0], [40.0, 0.0, 0.0], [-3.0, 30.0, 0.0]]), np.array([0, 0, 0])
    np.testing.assert_allclose(logit_of_loss(loss(logits, labels), clip=1e-30), logit_confidence(logits, labels))
    assert logit_of_loss(0.0) == pytest.approx(-np.log(1e-12))
