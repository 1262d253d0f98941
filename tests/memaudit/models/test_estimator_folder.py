"""The folder of an estimator is one that opens as any model's."""

import pytest
import torch

from memaudit.common.io import read_json
from memaudit.models.estimator_folder import made_estimator
from memaudit.models.model_folder import load
from memaudit.models.sklearn_estimators import EstimatorBranch

pytestmark = pytest.mark.usefixtures("one_thread")
ENTRY = {
    "family": "estimator", "task": "classification", "mode": "raw", "version": None, "options": {"scale": True},
    "estimator": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}, "path": None, "hub": None,
    "licence": "BSD-3-Clause",
}  # fmt: skip


def test_it_opens_as_the_estimator_that_the_catalogue_names(tmp_path):
    card = made_estimator(tmp_path, "nearest", ENTRY)
    facts = read_json(card)
    assert (facts["name"], facts["origin"], facts["options"]) == ("nearest", ENTRY["estimator"], {"scale": True})
    model = load(card)
    assert isinstance(model, EstimatorBranch)
    x = torch.tensor([[0.0], [1.0]])
    assert model.logits(x[None], torch.tensor([[0, 1]]), x[None]).argmax(-1).tolist() == [[0, 1]]
