"""An audit from Python of a frame that holds the target, with an estimator of the user's own module as it is."""

import subprocess
import sys

import pytest
from conftest import with_library

from memaudit.auditing.api import Report

pytestmark = pytest.mark.usefixtures("warm_jobs")

# Reads columns by their names, with texts and gaps, queries a network, and keeps no `classes_`.
OWN = """
import torch
from sklearn.base import BaseEstimator, ClassifierMixin


class Nearest(ClassifierMixin, BaseEstimator):
    def __init__(self, network=None):
        self.network = network

    def points(self, X):
        assert list(X.columns) == ["Age of owner", "town", "price"], X.columns
        assert set(X["town"].dropna()) <= {"Bath", "Ely"} and X["price"].dropna().map(type).eq(str).all()
        numbers = X[["Age of owner"]].assign(ely=X["town"] == "Ely", gap=X["town"].isna())
        numbers["price"] = X["price"].astype(float)
        with torch.no_grad():
            return self.network(torch.tensor(numbers.to_numpy(dtype="float32")))

    def fit(self, X, y):
        self.known_, self.labels_ = self.points(X), torch.tensor([label == "yes" for label in y])
        return self

    def predict_proba(self, X):
        nearest = torch.cdist(self.points(X), self.known_).argmin(1)
        yes = self.labels_[nearest].double() * 0.8 + 0.1
        return torch.stack([1 - yes, yes], 1).numpy()

    def predict(self, X):
        return ["yes" if yes > 0.5 else "no" for yes in self.predict_proba(X)[:, 1]]
"""
CALL = """
import numpy as np, pandas as pd, torch
from memaudit import audit
from own import Nearest

rng = np.random.default_rng(0)
rows = pd.DataFrame({"Age of owner": rng.normal(40, 9, 120), "town": rng.choice(["Bath", "Ely"], 120)})
rows["price"] = rng.choice([f"{number}.50" for number in range(20)], 120)
rows.loc[::7, "town"] = None
rows["churn"] = np.where(rng.random(120) < 0.5, "yes", "no")
torch.manual_seed(0)
audit(rows, target="churn", model=Nearest(torch.nn.Linear(4, 4)), quick=True, cores=2, into="audited")
"""


def test_a_class_of_the_users_module_reads_the_users_columns(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "call.py").write_text(CALL, encoding="utf-8")
    command = [sys.executable, "call.py"]
    done = subprocess.run(command, cwd=tmp_path, env=with_library(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "memaudit: 'price': texts that look like numbers are read as words; to have numbers read" in done.stdout
    summary = Report(tmp_path / "audited").summary
    assert summary.models == {"main": "Nearest"}
    assert summary.headline.auc.detected  # its own nearest neighbour is each member
