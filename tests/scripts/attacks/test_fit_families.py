"""Estimators that are fitted on the contexts of `main`: one matrix of all of them, on the same contexts."""

import numpy as np
import pytest
from context_files import asked
from context_files import run as run_script

from memaudit.attacks.score_matrices import gather, variant

pytestmark = pytest.mark.usefixtures("one_thread")


def entry(path, **params):
    fixed = {"family": "estimator", "task": "classification", "mode": "raw", "version": None, "options": {}}
    return fixed | {"estimator": path, "params": params, "path": None, "hub": None, "licence": "BSD-3-Clause"}


NEAREST = entry("sklearn.neighbors.KNeighborsClassifier", n_neighbors=1)
CONSTANT = entry("sklearn.dummy.DummyClassifier", strategy="uniform")


@pytest.fixture
def families(contexts, project):
    files = ["records=records.parquet", "schema=schema.json", "design=main.nc"]
    params = {"seed": 1, "sets": 16, "models": {"nearest": NEAREST, "constant": CONSTANT}, "code": "by hand"}
    run_script(project, contexts, "attacks_fit_families", files, ["families.nc"], params, {"dataset": "wine"})
    return gather([str(contexts / "families.nc")])


def test_each_estimator_answers_as_the_arm_of_its_model_does(families, contexts, project):
    """`main` of these contexts is the same neighbour, queried as any model."""
    main = variant(asked(project, contexts, "main"), "usual").isel(model=slice(16))
    nearest = variant(families.sel(family="nearest"), "usual")
    assert nearest.record.values.tolist() == main.record.values.tolist()
    assert (nearest.design.values == main.design.values).all()
    np.testing.assert_array_equal(nearest.logits.values, main.logits.values)
    constant = variant(families.sel(family="constant"), "usual").logits.values
    assert np.ptp(constant) == 0
