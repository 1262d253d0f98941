"""Simulated scores of texts under several models and corpora, with a planted difference between members and others."""

import numpy as np
import pandas as pd
from result_rows import chosen

from memaudit.common import tidy
from memaudit.studies.ltmia.transfer_evaluation import Study

FAMILIES = {"a": "transformer", "b": "transformer", "m": "state space", "r": "linear attention"}
CONTENTS = {"prose": "text", "lines": "code", "moved": "text"}
TEXTS = 120


def scores(models=tuple(FAMILIES), datasets=("prose", "lines"), tuning="full", lead=0.5, strength=1.0, seed=0):
    """Gaussian scores: the mean of members is `strength` above that of others, for lt_mia `lead` more."""
    rng, parts = np.random.default_rng(seed), []
    for dataset in datasets:
        ids = [f"{dataset}{number:04d}" for number in range(TEXTS)]
        for model in models:
            member = rng.permutation(TEXTS) < TEXTS // 2
            common = rng.normal(size=TEXTS)
            own = dict.fromkeys(("loss", "ref_loss", "ez"), common + strength * member)
            own["lt_mia"] = common + (strength + lead) * member
            keys = {"model": model, "dataset": dataset, "tuning": tuning, "id": ids, "member": member}
            parts.append(pd.DataFrame(keys | own))
    return pd.concat(parts, ignore_index=True)


def names(models, datasets, tuning="full"):
    return [[model, dataset, tuning] for model in models for dataset in datasets]


def study(table, **changes):
    held_out = names(FAMILIES, ("prose", "lines"))
    given = {
        "training": names(["t"], ["prose"]),
        "held_out": held_out,
        "controls": {},
        "families": FAMILIES,
        "contents": CONTENTS,
        "fpr": [0.1],
        "seed": 1,
    }
    given |= {"ways": {"full": "full", "lora": "lora"}, "unfit": [], "replicates": 60}
    given |= {"sizes": {"a": 100, "b": 1000, "m": 120, "r": 90}}
    return Study(table, **given | changes)


def rows(results, **keys):
    return chosen(tidy.expand(tidy.frame(list(results))), **keys)


ATTACKS = ["loss", "ref_loss", "ez", "lt_mia"]
