"""Scores of further passes: definitions by hand, the published DC-PDD on a text, and texts that are exactly alike."""

import math

import numpy as np
import pytest

from memaudit.attacks import calibrated_token_scores as calibrated
from memaudit.common.errors import AuditError

PLAIN, OUTSIDE, INSIDE = np.array([-1.0, -2.0]), np.array([-3.0, -2.0]), np.array([-0.5, -1.0])


def test_recall_is_a_ratio_and_its_contrast_subtracts_that_of_members():
    assert calibrated.recall(PLAIN, OUTSIDE).tolist() == [3.0, 1.0]
    assert calibrated.con_recall(PLAIN, OUTSIDE, INSIDE, 0.5).tolist() == [2.75, 0.75]
    assert calibrated.con_recall(PLAIN, OUTSIDE, INSIDE, 0.0).tolist() == [3.0, 1.0]
    assert np.isfinite(calibrated.recall(np.zeros(1), OUTSIDE[:1])).all()


def test_neighbours_that_are_less_likely_than_the_text_raise_its_score():
    near = np.array([[-2.0, -4.0], [-2.0, -2.0]])
    assert calibrated.neighbourhood(PLAIN, near).tolist() == [2.0, 0.0]
    assert calibrated.self_calibrated(PLAIN, near, PLAIN, near).tolist() == [0.0, 0.0]
    rises = calibrated.self_calibrated(PLAIN, near, np.array([-2.0, -2.0]), np.array([[-3.0, -3.0], [-2.0, -2.0]]))
    assert rises.tolist() == [2.0 - 0.5, 0.0]


def published_dc_pdd(log_probability, ids, frequency, ceiling):
    """The authors' loop over the first occurrences of a text's tokens, with their sign turned."""
    alpha, met = [], set()
    for value, token in zip(log_probability, ids, strict=True):
        if token not in met:
            met.add(token)
            alpha.append(min(math.exp(value) * math.log(1 / frequency[token]), ceiling))
    return sum(alpha) / len(alpha)


@pytest.mark.parametrize("ceiling", [0.01, 0.5, 100.0])
def test_dc_pdd_is_the_published_one(ceiling):
    rng = np.random.default_rng(1)
    ids, mask = rng.integers(9, size=(5, 20)), np.ones((5, 20), bool)
    mask[:, 0], mask[2, 12:] = False, False
    values, frequency = -rng.exponential(2, (5, 20)), rng.dirichlet(np.ones(9))
    observed = calibrated.dc_pdd(values, ids, mask, frequency, ceiling)
    expected = [
        published_dc_pdd(value[kept], own[kept], frequency, ceiling)
        for value, own, kept in zip(values, ids, mask, strict=True)
    ]
    np.testing.assert_allclose(observed, expected)


def test_frequencies_count_the_tokens_of_texts_and_none_is_zero():
    ids, mask = np.array([[1, 1, 3], [2, 0, 0]]), np.array([[1, 1, 1], [1, 0, 0]], bool)
    assert calibrated.frequencies(ids, mask, 5).tolist() == [1 / 9, 3 / 9, 2 / 9, 2 / 9, 1 / 9]
    with pytest.raises(AuditError, match="a token id is not within the 3 of the model"):
        calibrated.frequencies(ids, mask, 3)
