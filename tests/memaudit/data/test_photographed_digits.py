"""Digits on photographs: a digit less contrast is the patch, and a smaller contrast is harder to read."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from memaudit.data.photographed_digits import photographed_digits


def test_an_image_is_a_digit_in_front_of_a_patch():
    images, digits = photographed_digits(0.4, np.random.default_rng(0))
    known = load_digits()
    assert images.shape == (1797, 64)
    assert (digits == known.target).all()
    patches = (images - 0.4 * known.data / 16) / 0.6
    assert patches.min() >= -1e-6
    assert patches.max() <= 1 + 1e-6
    assert len(np.unique(patches.round(5), axis=0)) > 1700
    again, _ = photographed_digits(0.4, np.random.default_rng(0))
    np.testing.assert_array_equal(images, again)


def test_a_digit_alone_is_the_digit():
    images, _ = photographed_digits(1.0, np.random.default_rng(0))
    assert images == pytest.approx(load_digits().data / 16, abs=1e-6)
