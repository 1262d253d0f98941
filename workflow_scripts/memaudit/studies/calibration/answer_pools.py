"""Answers of models with many contexts of one table, from which repetitions of an audit draw theirs.

A pool is a score matrix as `audit_attacks.panels` reads it. Its contexts are balanced in blocks of `BLOCK`, as those of
an audit; a repetition takes whole blocks.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.datasets
import torch
import xarray as xr
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.project_paths import PROJECT
from memaudit.data import membership_matrices
from memaudit.models.batched_queries import Question, answer, as_wide
from memaudit.models.model_protocol import TabularModel
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.tabicl import TabICLBranch

BLOCK = 8
MEMBERS = 0.8  # share of the records, as in an audit
CLASSES = 20  # of the table whose labels no neighbours share
TARGETS = {"credit-g": "class", "blood-transfusion": "Class"}  # of the tables in resources/
MODELS: Mapping[str, Any] = {
    "tabicl-small": lambda: TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"),
    "random forest": lambda: _estimator(RandomForestClassifier(20, random_state=0)),
    "15 nearest neighbours": lambda: _estimator(KNeighborsClassifier(15)),
    "1 nearest neighbour": lambda: _estimator(KNeighborsClassifier(1)),
    "constant classifier": lambda: _estimator(DummyClassifier(strategy="constant", constant=0)),
}


class Records(NamedTuple):
    """Encoded records of a table: x (record, feature) float32, y (record,) codes of the classes."""

    x: Array
    y: Codes


def records(name: str) -> Records:
    """The distinct records of a table: of resources/tables, of scikit-learn, or "no shared labels" (see `_circle`)."""
    if name == "no shared labels":
        return _circle(10 * CLASSES)
    if name in TARGETS:
        table = pd.read_csv(PROJECT / f"resources/tables/{name}.csv.gz").drop_duplicates()
        target = table.pop(TARGETS[name])
        codes = {key: column if column.dtype.kind in "if" else column.factorize()[0] for key, column in table.items()}
        return Records(pd.DataFrame(codes).to_numpy(np.float32), target.factorize(sort=True)[0])
    x, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    first = np.sort(np.unique(x, axis=0, return_index=True)[1])
    return Records(x[first].astype(np.float32), y[first].astype(np.int64))


def queried(table: Records, model: str, most: int, contexts: int, rng: np.random.Generator) -> xr.Dataset:
    """Answers of a model with this number of contexts, for at most so many random records of a table."""
    chosen = rng.permutation(len(table.y))[:most]
    x, y = torch.from_numpy(table.x[chosen]), torch.from_numpy(table.y[chosen])
    member = np.arange(len(y)) < int(MEMBERS * len(y))
    design = membership_matrices.balanced(contexts, len(y), rng, block=BLOCK) & member
    opened: TabularModel = MODELS[model]()
    logits = [as_wide(one, int(y.max()) + 1) for one in answer(opened, [Question(x[row], y[row], x) for row in design])]
    return score_matrix(torch.stack(logits).numpy(), design, member, y.numpy())


def generated(
    contexts: int, count: int, rng: np.random.Generator, shift: float = 0.0, leaking: float = 1.0, spread: float = 0.3
) -> xr.Dataset:
    """Answers with a known leak: presence adds `shift` standard deviations to the logit confidence of some records.

    leaking: share of these records; spread: deviation of the contexts' levels; count: of records. Records have levels
    and deviations of their own; noise is of Student's t with 4 degrees of freedom.
    """
    member = np.arange(count) < int(MEMBERS * count)
    design = membership_matrices.balanced(contexts, count, rng, block=BLOCK) & member
    noise = rng.standard_t(4, design.shape) / np.sqrt(2) + spread * rng.standard_normal((contexts, 1))
    shifts = shift * (rng.random(count) < leaking)
    confidence = rng.normal(1, 2, count) + np.exp(rng.normal(0, 0.3, count)) * (noise + shifts * design)
    label = rng.integers(0, 2, count)
    logits = np.where(np.arange(2) == label[:, None], confidence[..., None], 0)
    return score_matrix(logits, design, member, label)


def score_matrix(logits: Array, design: Mask, member: Mask, label: Codes) -> xr.Dataset:
    """A score matrix whose records are privacy units of their own; logits: (model, record, class)."""
    count = len(label)
    return xr.Dataset(
        {"logits": (("model", "record", "class"), logits.astype(np.float32)), "design": (("model", "record"), design)},
        {name: ("record", values) for name, values in (("label", label), ("member", member))}
        | {"record": [f"{place:06x}" for place in range(count)], "unit": ("record", np.arange(count))},
        {"dataset": "calibration", "block": BLOCK},
    )


def _circle(count: int) -> Records:
    """Records on a circle whose `CLASSES - 1` nearest neighbours on each side have other labels.

    A context of 40 % of them lacks all of these for fewer than one record in 10^8. So the 1-nearest-neighbour
    classifier is right exactly for the records in its context: it leaks fully.
    """
    places = np.arange(count)
    angles = 2 * np.pi * places / count
    return Records(np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32), places % CLASSES)


def _estimator(classifier: ClassifierMixin) -> EstimatorBranch:
    return EstimatorBranch(make_pipeline(classifier), {"task": "classification", "mode": "raw"})
