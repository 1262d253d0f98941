"""Tidy rows of the leakage under each mitigation of an audit, and of its change by the mitigation.

`job` has `params` with `seed`, `attacks` and `audit`, and the wildcard `dataset`. `attack` names the adversary: the
strongest score of the answers, many queries of labels, or white-box.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.mitigation_verdicts import QUERIES, STRONGEST
from memaudit.studies.audit.mitigated_answers import Mitigated, against_many_queries, gains

STUDY = "audit"
LABELS_ONLY = "labels only"
Rows = Iterator[dict[str, Any]]


def keys_of(name: str, job: Any, attack: str = STRONGEST) -> dict[str, str]:
    """Keys of the tidy rows of a mitigation."""
    return {"dataset": job.wildcards.dataset, "mitigation": name, "attack": attack}


def stream(job: Any, *names: str) -> np.random.Generator:
    """The random stream of these names."""
    return seeds.generator(job.params.seed, STUDY, "mitigations", job.wildcards.dataset, *names)


def not_tested_rows(name: str, reason: str, job: Any, attack: str = STRONGEST) -> Rows:
    """One tidy row with the reason why a mitigation was not tested."""
    yield tidy.row(STUDY, keys_of(name, job, attack), "tested", 0.0, unit="yes or no", method=reason)


def leakage_rows(name: str, attacked: Mitigated, job: Any, attack: str = STRONGEST) -> Rows:
    """Tidy rows of AUC and TPRs of the strongest score, and of the score that is chosen for most contexts."""
    keys = keys_of(name, job, attack)
    yield from rows(STUDY, keys, attacked.estimates(rng=stream(job, name, *_inside(attack)), **_options(job)))
    score, share = attacked.most_chosen()
    yield tidy.row(STUDY, {**keys, "score": score}, "chosen", share, n=len(attacked.membership))


def changes(name: str, attacked: Mitigated, usual: Mitigated, job: Any, attack: str = STRONGEST) -> list[Estimate]:
    """Differences of AUC and TPRs to those without the mitigation. Raises AuditError as `gains`."""
    return gains(attacked, usual, rng=stream(job, "difference", name, *_inside(attack)), **_options(job))


def queried_label_rows(contexts: xr.Dataset, whole: Mitigated, job: Any) -> Rows:
    """Tidy rows of labels alone, attacked with many queries near some records, and of the change of leakage.

    contexts: score matrix without the mitigation; whole: its strongest scores. The reason where it cannot be attacked.
    """
    near, settings = of_input(job, "perturbed"), job.params.attacks["perturbation"]
    try:
        attacked = against_many_queries(near, contexts, settings, job.params.audit["fpr"])
        found = changes(LABELS_ONLY, attacked, whole, job, QUERIES)
    except AuditError as problem:
        yield from not_tested_rows(LABELS_ONLY, str(problem), job, QUERIES)
        return
    yield from leakage_rows(LABELS_ONLY, attacked, job, QUERIES)
    yield from rows(STUDY, keys_of(LABELS_ONLY, job, QUERIES), found)


def _inside(attack: str) -> list[str]:
    """What the random streams of another attack than the strongest score are named after."""
    return [] if attack == STRONGEST else [attack]


def _options(job: Any) -> dict[str, Any]:
    """False positive rates and bootstrap replicates of all metrics."""
    fprs = sorted({*job.params.attacks["fpr"], job.params.audit["fpr"]}, reverse=True)
    return {"fprs": fprs, "replicates": job.params.attacks["replicates"]}
