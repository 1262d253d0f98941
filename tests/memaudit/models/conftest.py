"""Data that several tests of models share."""

import numpy as np
import pytest
import small_classifiers
from small_language_models import texts

from memaudit.models.language_models import train_tokenizer


@pytest.fixture(scope="module")
def membership():
    """Membership matrix (model, record) of six small classifiers."""
    return np.random.default_rng(0).random((6, small_classifiers.RECORDS)) < 0.5


@pytest.fixture(scope="module")
def data():
    """Records for small classifiers of each kind."""
    return small_classifiers.data()


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer of 300 entries."""
    return train_tokenizer(texts(200, "tokenizer"), 300)
