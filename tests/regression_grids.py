"""Score matrices of regressors that are fitted on shadow contexts of simulated records."""

import numpy as np
import torch
import xarray as xr

from memaudit.attacks.score_matrices import variant
from memaudit.data import membership_matrices
from memaudit.models.sklearn_estimators import EstimatorBranch, _estimator, _preprocessing, make_pipeline

SETS, RECORDS, MEMBERS, BLOCK = 32, 60, 48, 8


def regressor(name, **params):
    """A regressor of scikit-learn as the model of a context."""
    pipeline = make_pipeline(_preprocessing(None, False), _estimator(name, params, 0))
    return EstimatorBranch(pipeline, {"task": "regression", "mode": "raw"})


def raw(predict, seed=0):
    """A score matrix before its variant is selected; predict: from a context (x, y) and all x to their numbers.

    Targets have heavy tails, so that one record alone changes the deviation of a context's targets.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(RECORDS, 3)).astype(np.float32)
    y = (1e4 + 1e3 * (x @ [2.0, -1.0, 0.5] + rng.standard_t(2, RECORDS))).astype(np.float32)
    member = np.arange(RECORDS) < MEMBERS
    design = membership_matrices.balanced(SETS, RECORDS, rng, block=BLOCK) & member
    prediction = np.stack([predict(x[inside], y[inside], x) for inside in design])
    entries = ("model", "record")
    return xr.Dataset(
        {
            "prediction": (entries, prediction.astype(np.float64)),
            "log_density": (entries, np.full(prediction.shape, np.nan)),
            "counts": (entries, design.astype(np.uint8)),
        },
        {
            "variant": ("model", ["usual"] * SETS), "record": [f"{i:04x}" for i in range(RECORDS)],
            "label": ("record", y), "unit": ("record", np.arange(RECORDS)), "member": ("record", member),
        },
        {"dataset": "simulated", "block": BLOCK},
    )  # fmt: skip


def fitted(model, seed=0):
    """The score matrix of an EstimatorBranch."""

    def predict(x, y, queries):
        return model.points(*(torch.from_numpy(part)[None] for part in (x, y, queries)))[0].numpy()

    return variant(raw(predict, seed), "usual")
