"""The range of training features: shares of a text outside it, and texts that are unusual."""

import numpy as np
import pytest
from planted_token_features import combination

from memaudit.attacks.feature_range import FeatureRange, usual_share
from memaudit.attacks.token_features import TokenFeatures, pack, unpack
from memaudit.common.errors import AuditError

pytestmark = pytest.mark.usefixtures("one_thread")


def normal(texts=300, seed=0, shift=0.0, width=4):
    """Packed-like features of standard normal values; every text has six tokens, of eight positions."""
    values = np.random.default_rng(seed).normal(size=(texts, 8, width)).astype(np.float32) + np.float32(shift)
    mask = np.broadcast_to(np.arange(8) < 6, (texts, 8)).copy()
    values[~mask] = 0
    return pack(TokenFeatures(values, mask))


def test_the_range_holds_the_middle_of_the_training_tokens_and_few_measured_texts_are_unusual():
    own = FeatureRange.of([normal(seed=seed) for seed in (1, 2)])
    np.testing.assert_allclose(own.high, 2.576, atol=0.25)
    np.testing.assert_allclose(own.low, -2.576, atol=0.25)
    measured = own.outside_of_rows(normal(2000, seed=4))
    np.testing.assert_array_equal(measured, own.outside(unpack(normal(2000, seed=4))))
    assert measured.mean() == pytest.approx(0.01, abs=0.004)
    usual = usual_share(measured)
    assert 0 < (own.outside_of_rows(normal(2000, seed=5)) > usual).mean() < 0.02
    assert (own.outside_of_rows(normal(50, seed=5, shift=6.0)) > usual).all()


def test_a_share_is_over_the_tokens_of_a_text_and_all_channels():
    own = FeatureRange([0.0, 0.0], [1.0, 1.0])
    values = np.array([[[0.5, 2.0], [0.5, 0.5], [9.0, 9.0]]], np.float32)
    assert own.outside(TokenFeatures(values, np.array([[True, True, False]]))).tolist() == [1 / 4]


def test_every_combination_has_the_same_weight():
    """One of 300 texts and one of 30, shifted: half of the tokens are shifted."""
    own = FeatureRange.of([normal(300, seed=1), normal(30, seed=2, shift=10.0)])
    assert min(own.high) > 10


def test_a_range_comes_back_from_a_card_and_its_absence_is_named():
    own = FeatureRange.of([combination("one", 1).rows])
    assert FeatureRange.of_facts({"range": own.facts()}, "card.json") == own
    with pytest.raises(AuditError, match=r"card.json: has no range of training features; train the classifier again"):
        FeatureRange.of_facts({}, "card.json")
