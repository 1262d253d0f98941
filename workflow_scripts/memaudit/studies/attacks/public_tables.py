"""Scikit-learn's tables on which signals and defences are chosen, which are not those that they are reported on."""

import numpy as np
import torch
from sklearn import datasets

TABLES = ("wine", "breast_cancer", "diabetes", "digits")
MOST, SEED = 800, 0  # records of a table


def records(table: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Features (record, feature) and class codes (record,) of at most MOST different records, in random order.

    Diabetes has two classes: above its median or not.
    """
    x, y = getattr(datasets, f"load_{table}")(return_X_y=True)
    y = (y > np.median(y)).astype(int) if table == "diabetes" else y
    _, first = np.unique(np.column_stack([x, y]), axis=0, return_index=True)
    order = np.random.default_rng(SEED).permutation(first)[:MOST]
    return torch.from_numpy(x[order].astype(np.float32)), torch.from_numpy(y[order].astype(np.int64))
