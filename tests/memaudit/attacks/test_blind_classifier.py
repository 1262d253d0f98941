"""Controls that see no prediction of the model: they find a shift, and nothing where there is none."""

import numpy as np
import pytest
from prediction_examples import predictions

from memaudit.attacks.blind_classifier import blind_scores, stand_in_scores
from memaudit.attacks.prediction_scores import Predictions
from memaudit.statistics import roc


@pytest.mark.parametrize(("shift", "low", "high"), [(0.0, 0.4, 0.6), (1.0, 0.7, 1.0)])
def test_the_blind_attack_finds_a_shift_of_features_alone(shift, low, high):
    rng = np.random.default_rng(0)
    found, member = predictions(rng, 150, 150, leak=True, shift=shift)
    half = rng.permutation(300) % 2 == 0
    assert low < roc.auc(blind_scores(*found.known(), member, half), member) < high


def test_missing_numbers_and_rare_categories_are_read():
    rng = np.random.default_rng(1)
    member = np.arange(200) < 100
    space = np.column_stack(
        [np.where(member & (rng.random(200) < 0.8), np.nan, 1.0), rng.integers(0, 60, 200), [0.0] * 200]
    )
    half = rng.permutation(200) % 2 == 0
    scores = blind_scores(space, np.array([False, True, False]), member, half)
    assert roc.auc(scores, member) > 0.8


def test_the_stand_in_finds_harder_records_that_it_has_not_seen():
    rng = np.random.default_rng(2)
    found, member = predictions(rng, 300, 300)
    half = rng.permutation(600) % 2 == 0
    assert 0.4 < roc.auc(stand_in_scores(found, member, half), member) < 0.6
    # The classes of non-members follow from nothing.
    noise = np.where(member, found.labels, rng.integers(0, 2, 600))
    harder = Predictions(found.probabilities, noise, found.features, found.categorical, found.references)
    assert roc.auc(stand_in_scores(harder, member, half), member) > 0.65


def test_a_single_class_tells_nothing():
    found, member = predictions(np.random.default_rng(3), 60, 60)
    one = Predictions(found.probabilities, np.zeros(120, int), found.features, found.categorical, found.references)
    assert not stand_in_scores(one, member, np.arange(120) % 2 == 0).any()
