"""Predictions of small models about members and non-members, with a leak, without one, and with a shift."""

import numpy as np
import pandas as pd
from audit_examples import CURVES
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from memaudit.attacks.prediction_scores import Predictions

WEIGHTS = np.array([1.0, 0.5, -0.5, 0.3])
SECRETS = ("Zqx-north", "Zqx-yes", "Zqx-no", "Zqx-id", "73105.125")
# Few permutations and replicates: for tests of what is computed, not how well.
FEW = {"fpr": 0.01, "base_rates": [0.1, 0.5], "permutations": 19, "replicates": 40}


def records(rng, count, shift=0.0):
    """Features (record, 4) and classes (record,); shift: of the second feature, by which records are also harder."""
    x = rng.normal(size=(count, 4))
    x[:, 1] += shift
    x[:, 0] /= 1 + shift
    return x, (rng.random(count) < 1 / (1 + np.exp(-2.5 * x @ WEIGHTS))).astype(np.int64)


def predictions(rng, members, nonmembers, leak=False, shift=0.0, references=0):
    """Predictions and membership (row,): of an overfitted forest, or a regularised one of many other records."""
    (x, y), (others_x, others_y) = records(rng, members), records(rng, nonmembers, shift)
    more_x, more_y = records(rng, 3000)
    general = LogisticRegression().fit(np.concatenate([x, more_x]), np.concatenate([y, more_y]))
    every, codes = np.concatenate([x, others_x]), np.concatenate([y, others_y])
    found = general.predict_proba(every)
    if leak:
        found = RandomForestClassifier(30, random_state=0).fit(x, y).predict_proba(every)
    own = general.predict_proba(every)[np.arange(len(codes)), codes]
    known = np.clip(np.repeat(own[None], references, 0) * rng.uniform(0.9, 1.0, (references, len(codes))), 1e-6, 1)
    member = np.arange(len(codes)) < members
    return Predictions(found, codes, every, np.zeros(4, np.bool_), known), member


def frames(rng, members=80, nonmembers=80, **options):
    """The same as tables of members and of non-members, with secrets among the cells."""
    found, member = predictions(rng, members, nonmembers, **options)
    table = pd.DataFrame(found.features, columns=[f"x{place}" for place in range(4)])
    table["pay"] = np.where(rng.random(len(table)) < 0.3, 73105.125, table["x0"].round(6))
    table["region"] = np.where(table["x1"] > 0, "Zqx-north", "Zqx-south")
    table["y"] = np.where(found.labels == 1, "Zqx-yes", "Zqx-no")
    table["p_Zqx-no"], table["p_Zqx-yes"] = found.probabilities.T.round(6)
    return table[member], table[~member]


def with_ids(first, second):
    """Both tables with the ids of their rows."""
    ids = [f"Zqx-id {place}" for place in range(len(first) + len(second))]
    return first.assign(id=ids[: len(first)]), second.assign(id=ids[len(first) :])


def area(estimate, half=0.05, detected=False):
    """An AUC as the results hold it."""
    ends = {"low": estimate - half, "high": min(estimate + half, 1.0)}
    return {"estimate": estimate, **ends, "null": 0.5, "p_value": 0.01 if detected else 0.4, "detected": detected}


def control(name, excess, detected=False):
    """A control that the attack exceeds by so much."""
    found = {"estimate": excess, "low": excess - 0.05, "high": excess + 0.05}
    return {"name": name, "auc": area(0.7 - excess, detected=detected), "excess": found}


def scores(detected=True, controls=(), splits=0, lookup=True, changed=1.0, accusations=None, labels=False):
    """Results as the script of the attack writes them."""
    return {
        "auc": area(0.7, detected=detected), "chosen": ["loss", "quantile regression"],
        "scores": [{"name": "quantile regression", "auc": area(0.7, detected=detected)},
                   {"name": "loss", "auc": area(0.65, detected=detected)},
                   {"name": "correctness", "auc": area(0.6 if labels else 0.51, detected=labels)}],
        "controls": list(controls) or [control("blind", 0.2), control("stand-in", 0.2)],
        "accusations": accusations, "smallest_auc": 0.58,
        "curves": CURVES.model_dump(),
        "planted": {"lookup": area(1.0, detected=lookup), "lookup_changed": changed, "splits": 5,
                    "splits_detected": splits},
    }  # fmt: skip


ACCUSED = {
    "accused_members": 60, "accused_non_members": 0, "tpr": {"estimate": 0.1, "low": 0.08, "high": 0.13},
    "fpr": {"estimate": 0.0, "low": 0.0, "high": 0.01}, "p_value": 1e-5, "detected": True, "smallest_tpr": 0.033,
    "precision": {"0.1": {"estimate": None, "low": 0.4, "high": 1.0}},
}  # fmt: skip
RIGHT = ACCUSED | {
    "accused_non_members": 5, "fpr": {"estimate": 0.01, "low": 0.003, "high": 0.02},
    "precision": {"0.1": {"estimate": 0.5, "low": 0.3, "high": 0.7},
                  "0.5": {"estimate": 0.9, "low": 0.8, "high": 0.95}},
}  # fmt: skip
FILES = {
    "rows": [600, 500], "duplicates": 3, "units": [600, 497], "by_person": False, "classes": 2, "features": 2,
    "references": 0, "sha256": ["0" * 64, "1" * 64],
}  # fmt: skip
