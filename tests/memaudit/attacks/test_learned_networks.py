"""Networks of the learned attack: published sizes, and what position means to them."""

from dataclasses import replace

import numpy as np
import pytest
from planted_token_features import TINY, WIDTH, combination

from memaudit.attacks.learned_classifier import (
    Classifier,
    apply,
)
from memaudit.attacks.learned_networks import sinusoids
from memaudit.attacks.learned_training import PRESETS
from memaudit.attacks.token_features import unpack

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_networks_have_the_published_numbers_of_weights():
    """The paper: fewer than 500 thousand; its sizes give 310 thousand, those of the authors' repository 828."""
    counts = {
        preset: sum(weight.numel() for weight in Classifier(architecture, 128, 154).parameters())
        for preset, (architecture, _) in PRESETS.items()
    }
    assert counts == {"paper": 310_018, "repository": 827_906}


def test_position_counts_for_the_transformer_but_not_for_the_mean():
    one = combination("one", 5)
    features = unpack(one.rows)
    values, mask = features.values[:, :4], np.ones((len(features.mask), 4), bool)
    reversed_ = values[:, ::-1].copy()
    for kind, differs in {"transformer": True, "flat_mlp": True, "mean_mlp": False}.items():
        classifier = Classifier(replace(TINY, kind=kind), 4, WIDTH)
        gap = np.abs(apply(classifier, values, mask) - apply(classifier, reversed_, mask)).max()
        assert (gap > 1e-3) == differs, kind


def test_positional_encodings_are_sines_and_cosines():
    observed = sinusoids(5, 6)
    for position in range(5):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            expected = [np.sin(angle), np.cos(angle)]
            np.testing.assert_allclose(observed[position, 2 * pair : 2 * pair + 2], expected, atol=1e-6)
