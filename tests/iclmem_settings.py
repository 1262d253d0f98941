"""A small section `iclmem` and the keys that all studies share, for the checks of configs."""

from functools import cache
from types import SimpleNamespace

from conftest import load
from wine_probes import SUITE

from memaudit.config.iclmem_section import Iclmem
from memaudit.config.shared_keys import Dataset, Model


@cache
def catalogues():
    return load()


def settings(**changes):
    """A section and the keys that all studies share; arm: changes of the condition `usual`."""
    arm = {"learning_rate": 1e-3} | changes.pop("arm", {})
    section = {"datasets": ["wine", "diabetes"], "models": {"classification": "small", "regression": "numbers"}}
    section |= {"splits": 5, "splits_per_job": 5, "queries": 30, "context": 40, "epochs": [1, 10], "copies": 1}
    section |= {"targets": {"queries": None, "context": 4}, "candidates": 3, "free_text": "refuse", "fpr": [0.1]}
    section |= {"keep_checkpoints": False, "replicates": 20, "permutations": 19, "bins": 5}
    section |= {"rules": {"as_written": {"auc": 0.5}}, "arms": {"usual": arm}, "manipulations": SUITE}
    catalogue = catalogues()
    models = {name: Model(**entry) for name, entry in catalogue["models"].items()}
    models |= {"small": models["tabicl-small"], "numbers": models["tabicl-small-regression"]}
    datasets = {name: Dataset(**entry) for name, entry in catalogue["datasets"].items()}
    shared = SimpleNamespace(models=models, datasets=datasets, accept_licences=[])
    return Iclmem.model_validate(section | changes), shared
