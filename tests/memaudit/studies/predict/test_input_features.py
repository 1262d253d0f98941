"""Inputs as numbers: columns as they are, counts of tokens."""

import numpy as np

from memaudit.studies.predict.input_features import input_features


def test_numbers_stay_and_missing_ones_are_at_the_mean():
    x = np.array([[[1.0], [5.0], [7.0]], [[3.0], [np.nan], [7.0]]])
    np.testing.assert_allclose(input_features(x), [[1.0], [3.0]])  # a constant column says nothing


def test_whole_numbers_of_an_image_are_pixels():
    x = np.array([[[[0, 255], [7, 7]]], [[[9, 250], [7, 7]]]], np.uint8)  # as CIFAR-10 has them
    np.testing.assert_allclose(input_features(x), [[0.0, 255.0], [9.0, 250.0]])


def test_tokens_are_counted():
    found = input_features(np.array([[4, 4, 9], [4, 2, 9]]))
    np.testing.assert_allclose(found, [[0.0, 2.0], [1.0, 1.0]])  # tokens 2 and 4; both have one 9
