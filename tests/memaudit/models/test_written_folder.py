"""The folder of an estimator is that of the fetch rule, and opens as any model's."""

import json
import subprocess
import sys

import pytest
import torch

from memaudit.models.model_folder import load
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.written_folder import made_estimator
from memaudit.workflow.digest import script_of

pytestmark = pytest.mark.usefixtures("one_thread")
ENTRY = {
    "family": "estimator", "task": "classification", "mode": "raw", "version": None, "options": {"scale": True},
    "estimator": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}, "path": None, "hub": None,
    "sha256": None, "licence": "BSD-3-Clause", "terms": None,
}  # fmt: skip


def test_it_is_what_the_fetch_rule_writes(tmp_path):
    fetched = tmp_path / "fetched"
    command = [sys.executable, str(script_of("models_fetch_checkpoint"))]
    command += ["--output", f"card={fetched / 'model.json'}", f"weights={fetched / 'weights'}"]
    command += ["--wildcards", '{"model": "nearest"}', "--params", json.dumps({"entry": ENTRY})]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    card = made_estimator(tmp_path, "nearest", ENTRY)
    assert card.read_bytes() == (fetched / "model.json").read_bytes()
    written = (folder / "weights/estimator.json" for folder in (card.parent, fetched))
    assert len({path.read_bytes() for path in written}) == 1


def test_it_opens_as_the_estimator_that_the_catalogue_names(tmp_path):
    model = load(made_estimator(tmp_path, "nearest", ENTRY))
    assert isinstance(model, EstimatorBranch)
    x = torch.tensor([[0.0], [1.0]])
    assert model.logits(x[None], torch.tensor([[0, 1]]), x[None]).argmax(-1).tolist() == [[0, 1]]
