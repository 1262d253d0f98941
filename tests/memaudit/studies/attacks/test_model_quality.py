"""Quality of a model by its score matrix: of classes and of numbers."""

import numpy as np
import pytest
from attack_grids import passive
from regression_grids import fitted, regressor

from memaudit.attacks.score_matrices import variant
from memaudit.studies.attacks.model_quality import quality, quality_differences


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
