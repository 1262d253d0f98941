"""The study of attacks on two tables with a few arms."""

from types import SimpleNamespace

from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.attacks_lookups import Attacks

PLAIN = {"context": None, "features": None, "copies": 1, "bags": 1, "layer": None, "shares": None, "keys": None}
SMALL, DEPLOYED = "tabicl-small", "tabicl-small-deployed"


def arm(sets, *variants, model=SMALL, datasets=None):
    """An arm with a variant for each of the dicts of what differs from a plain context."""
    return {"model": model, "sets": sets, "datasets": datasets, "variants": [PLAIN | one for one in variants or [{}]]}


def two_tables() -> Attacks:
    """The study with two tables of 100 + 50 records; wine has all arms, digits neither `defended` nor `other_mode`."""
    run = RunConfig(load("smoke"), PROJECT)
    run.config["data"]["splits"]["here"] = {"members": 100, "nonmembers": 50}
    section = run.config["attacks"]
    section |= {"datasets": ["wine", "digits"], "split": "here", "sets": 40, "shard": 32, "layer": 5}
    section |= {"fpr": [0.1, 0.01], "replicates": 20, "permutations": 19}
    section["arms"] = {
        "main": arm(40),
        "settings": arm(16, {"context": 10}, {"features": 2, "copies": 3}, {"shares": [0.5, 0.7]}),
        "defended": arm(16, {"bags": 4}, {"layer": "first"}, datasets=["wine"]),
        "other_mode": arm(8, model=DEPLOYED, datasets=["wine"]),
    }
    section["perturbation"] |= {"targets": 6, "sets": 20, "shard": 16, "counts": [5, 10], "scales": [0.1, 0.5]}
    section["perturbation"]["count"] = 5
    section["active"] |= {"arms": ["main", "other_mode"], "targets": 4, "sets": 16, "shard": 10}
    section["active"] |= {"budgets": [2, 4], "most": 8, "scanned": 0.5}
    section["families"] = {"datasets": ["wine"], "sets": 8, "arms": ["other_mode"], "models": ["random-forest", "mlp"]}
    section["inference"] |= {"levels": 4, "sets": 40, "sensitive": {"wine": "alcohol", "digits": None}}
    return Attacks(run)


def wildcards(dataset="wine", name="main"):
    return SimpleNamespace(dataset=dataset, arm=name)
