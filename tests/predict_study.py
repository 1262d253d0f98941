"""Study `predict` with settings of every kind of data and network, for tests of its look-ups and sizes."""

from types import SimpleNamespace

from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.predict_lookups import Predict

WINE = {"kind": "table", "dataset": "wine"}
QUESTIONS = {"kind": "table", "dataset": "wine", "questions": {"features": 3, "bins": 4}}
LLAMA = {"family": "llama", "width": 16, "layers": 2, "heads": 2, "inner": 32}
LLAMA |= {"pretraining": {"steps": 20, "batch": 16, "learning_rate": 0.01}}
TRAINING = {"epochs": 6.0, "batch": 16, "learning_rate": 0.01, "every": 0.5, "until": 4.0, "later": 2}
# The untrained model, one each half epoch up to 4, and 2 later ones.
CHECKPOINTS = 11


def setting(data, network, **others):
    """A setting of 8 shadow models in shards of 3, 4 of them targets, unless told otherwise."""
    plain = {"label_noise": 0.0, "canaries": 0, "models": 8, "targets": 4, "shard": 3, "max_records": None}
    return plain | {"data": data, "network": network, "training": TRAINING, "interrupt": "closest"} | others


def settings():
    return {
        "mlp": setting(WINE, {"kind": "mlp", "width": 16, "depth": 3}, canaries=10),
        "lora": setting(QUESTIONS, {"kind": "text", "small": LLAMA, "adapter": {"rank": 2}}, max_records=60),
        "in_context": setting(WINE, {"kind": "in_context", "model": "tabicl-small", "context": 40}),
    }


def study(chosen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load("smoke"), PROJECT)
    run.config["predict"] |= {"cases": list(chosen), "settings": chosen, "fpr": [0.1], "tpr": [0.75], "drop": 0.95}
    run.config["predict"] |= {"memorized": 4.0, "replicates": 20}
    return Predict(run)


def wildcards(case):
    return SimpleNamespace(case=case)
