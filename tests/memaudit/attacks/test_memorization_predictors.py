"""Predictors against closed forms, one sign for all, and one clear line for invalid input."""

import numpy as np
import pytest
from scipy.special import log_softmax

from memaudit.attacks import memorization_predictors, psmi
from memaudit.common.errors import AuditError
from memaudit.statistics import roc


def mislabelled(records=300, features=8, wrong=30, seed=0):
    """Hidden states, logits and labels of two classes; the first `wrong` records bear the other class's label."""
    rng = np.random.default_rng(seed)
    truth = np.arange(records) % 2
    states = rng.normal(size=(records, features))
    states[:, 0] += 6 * truth
    logits = rng.normal(size=(records, 2)) / 2
    logits[np.arange(records), truth] += 3
    labels = np.where(np.arange(records) < wrong, 1 - truth, truth)
    return states, logits, labels


def distances_to_others(states, dimensions):
    """Mahalanobis distance of each record from all others in the first principal components, record by record."""
    centred = states - states.mean(0)
    components = np.linalg.svd(centred, full_matrices=False)[2][:dimensions]
    projected = centred @ components.T
    observed = []
    for record, one in enumerate(projected):
        others = np.delete(projected, record, axis=0)
        gap = one - others.mean(0)
        observed.append(np.sqrt(gap @ np.linalg.solve(np.cov(others.T).reshape(dimensions, -1), gap)))
    return np.array(observed)


def test_the_loss_is_the_cross_entropy_of_the_label():
    _, logits, labels = mislabelled()
    expected = -log_softmax(logits, axis=1)[np.arange(300), labels]
    np.testing.assert_allclose(memorization_predictors.loss(logits, labels), expected, atol=1e-12)


def test_the_gap_is_the_best_other_logit_minus_the_labels_and_not_first_minus_second():
    """Appendix C, not A.1: by the latter a mislabelled record has the same gap as a correct one."""
    logits = [[5.0, 2.0, 1.0], [5.0, 2.0, 1.0], [5.0, 2.0, 1.0]]
    np.testing.assert_array_equal(memorization_predictors.logit_gap(logits, np.array([0, 1, 2])), [-3, 3, 4])


def test_psmi_counts_against_memorization():
    scores = psmi.Scores(np.array([0.2, -0.3]), np.zeros(2), 5)
    np.testing.assert_array_equal(memorization_predictors.from_psmi(scores), [-0.2, 0.3])


@pytest.mark.parametrize(("records", "features", "dimensions"), [(40, 6, 6), (40, 6, 3), (40, 60, 5), (12, 12, 4)])
def test_the_distance_is_that_from_all_other_records(records, features, dimensions):
    states = np.random.default_rng(1).normal(size=(records, features)) * np.linspace(1, 3, features)
    observed = memorization_predictors.mahalanobis(states, dimensions)
    assert observed.dimensions == dimensions
    np.testing.assert_allclose(observed.scores, distances_to_others(states, dimensions), rtol=1e-8)


def test_the_distance_does_not_depend_on_how_the_states_come():
    states = np.random.default_rng(1).normal(size=(40, 6))
    for given in (states, list(np.split(states, 4)), 1e4 + states):
        observed = memorization_predictors.mahalanobis(given, 3)
        np.testing.assert_allclose(observed.scores, distances_to_others(states, 3), rtol=1e-6)


def test_too_many_dimensions_are_reduced():
    rng = np.random.default_rng(2)
    assert memorization_predictors.mahalanobis(rng.normal(size=(1200, 20))).dimensions == 20
    assert memorization_predictors.mahalanobis(rng.normal(size=(30, 100)), 500).dimensions == 15
    flat = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 10))
    observed = memorization_predictors.mahalanobis(flat, 100)
    assert observed.dimensions == 3
    assert np.isfinite(observed.scores).all()


@pytest.mark.parametrize(("records", "features"), [(50, 4), (30, 40)])
def test_a_record_that_alone_spans_a_dimension_is_finite_and_the_farthest(records, features):
    for seed in range(6):
        states = np.random.default_rng(seed).normal(size=(records, features))
        states[:, 3] = 0
        states[17, 3] = 500
        observed = memorization_predictors.mahalanobis(states)
        assert np.isfinite(observed.scores).all()
        assert observed.scores.argmax() == 17
        assert observed.scores[17] == pytest.approx(memorization_predictors.limit(records))


@pytest.mark.parametrize(
    ("states", "line"),
    [
        (np.ones((3, 2)), "3 records; it needs 4"),
        (np.full((9, 2), 0.1), "all hidden states are one point"),
        (np.zeros((9, 20)), "all hidden states are one point"),
        (np.full((9, 2), np.nan), "record 0 holds NaN"),
    ],
)
def test_states_without_a_distance_are_an_error(states, line):
    with pytest.raises(AuditError, match=line):
        memorization_predictors.mahalanobis(states)


def test_mislabelled_records_have_the_higher_scores():
    states, logits, labels = mislabelled()
    rng = np.random.default_rng(0)
    observed, scores, dimensions = memorization_predictors.predictors(
        states, labels, rng, logits=logits, classes=[0, 1], directions=200
    )
    wrong = np.arange(300) < 30
    for name in ("psmi", "loss", "logit_gap"):
        assert roc.auc(observed[name], wrong) > 0.95, name
    # It does not depend on labels.
    assert roc.auc(observed["mahalanobis"], wrong) == pytest.approx(0.5, abs=0.12)
    assert (scores.directions, dimensions) == (200, 8)


def test_predictors_without_input_are_left_out():
    states, logits, labels = mislabelled()
    alone, *_ = memorization_predictors.predictors(states, labels, np.random.default_rng(0), directions=10)
    assert set(alone) == {"psmi", "mahalanobis"}
    losses = np.linspace(0, 1, 300)
    more, *_ = memorization_predictors.predictors(
        states, labels, np.random.default_rng(0), losses=losses, directions=10
    )
    assert set(more) == {"psmi", "mahalanobis", "loss"}
    both, *_ = memorization_predictors.predictors(
        states, labels, np.random.default_rng(0), losses=losses, logits=logits, classes=[0, 1], directions=10
    )
    assert set(both) == {"psmi", "mahalanobis", "loss", "logit_gap"}
    np.testing.assert_array_equal(both["loss"], losses)
    np.testing.assert_array_equal(both["psmi"], alone["psmi"])


def test_columns_of_logits_follow_the_classes_and_not_their_order():
    states, logits, labels = mislabelled()
    names = np.array(["yes", "no"])[labels]
    observed, *_ = memorization_predictors.predictors(
        states, names, np.random.default_rng(0), logits=logits, classes=["yes", "no"], directions=10
    )
    np.testing.assert_allclose(observed["logit_gap"], memorization_predictors.logit_gap(logits, labels))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"logits": np.zeros((5, 2))}, r"\(5, 2\) for \(6,\) labels"),
        ({"logits": np.zeros((6, 1)), "classes": [0]}, "record 1 has a label that is none of the classes"),
        ({"logits": np.zeros((6, 1)), "classes": [0, 1]}, "1 columns for 2 classes"),
        ({"logits": np.zeros((6, 3)), "classes": [0, 1]}, "3 columns for 2 classes"),
        ({"logits": np.zeros((6, 3)), "classes": [0, 1, 1]}, "a class is named twice"),
        ({"logits": np.full((6, 2), np.nan)}, "record 0 has one that is not finite"),
        ({"logits": np.zeros((6, 2)), "classes": [0, 7]}, "record 1 has a label that is none of the classes"),
        ({"logits": np.zeros((6, 2)), "classes": None}, "record 0 has a label that is none of the classes"),
        ({"logits": np.zeros((6, 2)), "classes": [0, 5, 1]}, "2 columns for 3 classes"),
        ({"losses": [0, 1, np.nan, 1, 1, 1]}, "that of record 2 is nan"),
        ({"losses": [0, 1, 1, -5, 1, 1]}, "that of record 3 is -5"),
        ({"losses": [0, 1]}, r"\(2,\) for 6 records"),
    ],
)
def test_bad_input_is_one_clear_line(change, line):
    states = np.random.default_rng(0).normal(size=(6, 2))
    given = {"classes": [0, 1]} | change
    with pytest.raises(AuditError, match=line) as error:
        memorization_predictors.predictors(states, [0, 1] * 3, np.random.default_rng(0), directions=4, **given)
    assert "\n" not in str(error.value)
