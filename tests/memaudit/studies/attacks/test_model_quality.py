"""Quality of a model by its score matrix: of classes and of numbers."""

import numpy as np
import pytest
from attack_grids import passive
from regression_grids import fitted, regressor

from memaudit.attacks.score_matrices import variant
from memaudit.statistics.model_utility import LARGEST_LOSS
from memaudit.studies.attacks.model_quality import log_loss, log_loss_gap, quality, quality_differences


@pytest.mark.parametrize(
    ("grid", "metrics"),
    [
        (lambda: variant(passive(np.random.default_rng(0)), "usual"), ["accuracy", "balanced accuracy"]),
        (lambda: fitted(regressor("sklearn.linear_model.LinearRegression")), ["r2", "rmse"]),
    ],
    ids=["classes", "numbers"],
)
def test_the_kind_of_answers_decides_what_is_measured(grid, metrics):
    others = grid().isel(record=slice(-10, None))
    found = quality(others, np.random.default_rng(0), 20)
    assert [one.metric for one in found] == metrics
    same = quality_differences(others, others, np.random.default_rng(0), 20)
    assert [(one.metric, one.estimate) for one in same] == [(f"{name} difference", 0) for name in metrics]


def test_a_true_label_without_probability_has_the_largest_loss():
    others = variant(passive(np.random.default_rng(0)), "usual").isel(record=slice(-10, None))
    impossible = np.where(np.arange(2) == others.label.values[:, None], -np.inf, 0.0)
    refused = others.assign(logits=(others.logits.dims, np.broadcast_to(impossible, others.logits.shape)))
    (found,) = log_loss(refused, np.random.default_rng(0), 20)
    assert (found.metric, found.estimate) == ("log loss", pytest.approx(LARGEST_LOSS))
    (usual,) = log_loss(others, np.random.default_rng(0), 20)
    (gap,) = log_loss_gap(refused, others, np.random.default_rng(0), 20)
    assert gap.estimate == pytest.approx(LARGEST_LOSS - usual.estimate)


def test_classes_that_tie_share_the_right_answer():
    others = variant(passive(np.random.default_rng(0)), "usual").isel(record=slice(-10, None))
    undecided = others.assign(logits=0 * others.logits)
    found = quality(undecided, np.random.default_rng(0), 20)
    assert [one.estimate for one in found] == pytest.approx([0.5, 0.5])
