"""Attacks of an audit on some of the records: labels near them, and poisons with a chosen label."""

from collections.abc import Iterator
from typing import Any

from memaudit.attacks.registry import LABELS, PROBABILITIES, threat
from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds
from memaudit.common.arrays import Mask
from memaudit.statistics import chosen_attacks
from memaudit.statistics.chosen_attacks import CHOSEN, STRONGEST_LABELS
from memaudit.statistics.detection_size import tells
from memaudit.statistics.strongest_score import Panel
from memaudit.studies.audit.audit_attacks import permits
from memaudit.studies.audit.strongest_attack import attack_rows

STUDY = "audit"
Rows = Iterator[dict[str, Any]]


def large_enough(membership: Mask, job: Any) -> bool:
    """Whether a matrix (model, record) is large enough to detect the AUC of `attacks/detectable`."""
    return tells(*membership.shape, job.params.attacks.get("detectable"))


def target_rows(job: Any) -> Rows:
    """Tidy rows of the strongest attack on labels, of its parts, and of poisons with a chosen label.

    None of matrices that are not `large_enough`.
    """
    settings = job.params.attacks
    if job.input.get("perturbed"):
        grid = of_input(job, "perturbed")
        panel = chosen_attacks.label_panel(grid, settings["perturbation"])
        queries = chosen_attacks.label_queries(grid, settings["perturbation"])
        yield from _rows(STRONGEST_LABELS, panel, queries[STRONGEST_LABELS], job)
        if large_enough(panel.membership, job):
            named = {name: queries[name] for name in ("boundary", "copies correct")}
            each = chosen_attacks.each_of(panel, settings, _rng("each", job))
            for name, number in named.items():
                yield from attack_rows(_keys(name, "targets", job), each[name], number, job.params.audit)
    if job.input.get("poisoned"):
        grid = of_input(job, "poisoned")
        for reads in (LABELS, PROBABILITIES):
            if permits(job.params.audit["threats"], CHOSEN[reads]):
                yield from _rows(CHOSEN[reads], chosen_attacks.poison_panel(grid, reads), 1, job)


def _rows(name: str, panel: Panel, queries: int, job: Any) -> Rows:
    if not large_enough(panel.membership, job):
        return
    found = chosen_attacks.strongest_of(panel, job.params.attacks, _rng(name, job))
    print(f"{job.wildcards.dataset}, {name}: AUC {found[0].estimate:.3f}", flush=True)
    yield from attack_rows(_keys(name, "targets", job), found, queries, job.params.audit)


def _keys(name: str, records: str, job: Any) -> dict[str, Any]:
    keys = {"dataset": job.wildcards.dataset, "model": "main", "records": records}
    return {**keys, "threat": threat(name), "attack": name, "poison": 0}


def _rng(name: str, job: Any):
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "targets", name)
