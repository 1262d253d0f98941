"""A tabular in-context model as a classifier: it trains, and it can be copied."""

from dataclasses import replace

import numpy as np
import pytest
import small_classifiers
from small_classifiers import RECORDS, in_context, mlp

from memaudit.models.shadow_ensembles import Group, Settings

SETTINGS = Settings(
    seed=5, name="toy", epochs=3, batch=6, learning_rate=0.02, checkpoints=(0, 0.5, 1, 3), warmup=0.5, decay="cosine"
)


@pytest.fixture(scope="module")
def design():
    return np.random.default_rng(0).random((6, RECORDS)) < 0.5


@pytest.fixture(scope="module")
def data():
    return small_classifiers.data()


def trained(folder, design, data, numbers=range(6), build=mlp, settings=SETTINGS, watched=0, until=None):
    group = Group(numbers, build, data, design[list(numbers)], settings, folder, watched)
    return group, group.train(until)


def test_an_in_context_model_can_be_trained_and_copied(design, data, tmp_path):
    settings = replace(SETTINGS, epochs=1, checkpoints=(0, 1), learning_rate=0.003)
    trace = trained(tmp_path, design, data["mlp"], range(1), in_context, settings)[1]
    assert trace.loss[1, 0, design[0]].mean() < trace.loss[0, 0, design[0]].mean() - 0.05
