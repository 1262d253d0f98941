"""Attacks of an audit on some of the records: labels near them, and poisons.

Each, and each reported part of the strongest one, has controls of its own, without further queries: a planted model
that looks records up, which must be detected, and memberships drawn again by the scheme that drew them, of which most
must not. Records in no context would cost as many queries as the targets, and would test the same: whether answers that
do not depend on a membership are detected.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import xarray as xr

from memaudit.attacks.attack_entry import LABELS, PROBABILITIES
from memaudit.attacks.registry import threat
from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds
from memaudit.common.arrays import Mask
from memaudit.statistics import chosen_attacks, threat_models
from memaudit.statistics.chosen_attacks import CHOSEN, STRONGEST_LABELS
from memaudit.statistics.detection_size import tells
from memaudit.statistics.strongest_score import Panel
from memaudit.statistics.threat_models import Case
from memaudit.studies.audit import planted_lookups
from memaudit.studies.audit.audit_attacks import permits
from memaudit.studies.audit.planted_checks import innocent_rows, lookup_rows
from memaudit.studies.audit.strongest_attack import attack_rows

STUDY = "audit"
Rows = Iterator[dict[str, Any]]


def large_enough(membership: Mask, job: Any) -> bool:
    """Whether a matrix (model, record) is large enough to detect the AUC of `attacks/detectable`."""
    return tells(*membership.shape, job.params.attacks.get("detectable"))


def target_cases(job: Any) -> Iterator[Case]:
    """The permitted attacks that need many queries, on some of the members. None that are not `large_enough`."""
    keys = {"dataset": job.wildcards.dataset, "model": "main", "records": "targets"}
    if job.input.get("perturbed"):
        grid = of_input(job, "perturbed")
        if large_enough(grid.design.values, job):
            yield threat_models.perturbation_case(keys, grid, job.params.attacks["perturbation"])
    if job.input.get("poisoned"):
        cases = threat_models.poisoning_cases(keys, of_input(job, "poisoned"))
        permitted = (one for one in cases if permits(job.params.audit["threats"], one.name))
        yield from (one for one in permitted if large_enough(one.membership, job))


def target_rows(job: Any) -> Rows:
    """Tidy rows of the strongest attack on labels, of its parts, and of poisons with a chosen label, with controls.

    Rows of controls have the key `checked`, the attack, beside `planted`. None of matrices that are not `large_enough`.
    """
    if job.input.get("perturbed"):
        yield from _label_rows(of_input(job, "perturbed"), job)
    if job.input.get("poisoned"):
        yield from _poison_rows(of_input(job, "poisoned"), job)


def _label_rows(grid: xr.Dataset, job: Any) -> Rows:
    """The strongest attack on labels near records, and its parts; grid: score matrix of the noisy copies."""
    settings = job.params.attacks
    panel = chosen_attacks.label_panel(grid, settings["perturbation"])
    if not large_enough(panel.membership, job):
        return
    queries = chosen_attacks.label_queries(grid, settings["perturbation"])
    yield from _rows(STRONGEST_LABELS, panel, queries[STRONGEST_LABELS], job)
    lookup = chosen_attacks.label_panel(planted_lookups.near_records(grid), settings["perturbation"])
    yield from _control_rows(STRONGEST_LABELS, panel, lookup, job)
    each = chosen_attacks.each_of(panel, settings, _rng("each", job))
    for name in ("boundary", "copies correct"):
        yield from attack_rows(_keys(name, "targets", job), each[name], queries[name], job.params.audit)
    for name in ("boundary", "copies correct", "perturbation"):
        yield from _control_rows(name, _alone(panel, name), _alone(lookup, name), job)


def _poison_rows(grid: xr.Dataset, job: Any) -> Rows:
    """Poisons with a chosen label, and controls of all poisons; grid: score matrix of the mislabelled copies."""
    looked_up = planted_lookups.poisoned(grid)
    yield from _mislabelled_controls(grid, looked_up, job)
    for reads in (LABELS, PROBABILITIES):
        panel = chosen_attacks.poison_panel(grid, reads)
        if permits(job.params.audit["threats"], CHOSEN[reads]) and large_enough(panel.membership, job):
            yield from _rows(CHOSEN[reads], panel, 1, job)
            lookup = chosen_attacks.poison_panel(looked_up, reads)
            yield from _control_rows(CHOSEN[reads], panel, lookup, job)


def _rows(name: str, panel: Panel, queries: int, job: Any) -> Rows:
    found = chosen_attacks.strongest_of(panel, job.params.attacks, _rng(name, job))
    print(f"{job.wildcards.dataset}, {name}: AUC {found[0].estimate:.3f}", flush=True)
    yield from attack_rows(_keys(name, "targets", job), found, queries, job.params.audit)


def _mislabelled_controls(grid: xr.Dataset, looked_up: xr.Dataset, job: Any) -> Rows:
    """Controls of the permitted attacks of `threat_models.poisoning_cases`, each at its largest number of poisons."""
    found = [{one.name: one for one in threat_models.poisoning_cases({}, of)} for of in (grid, looked_up)]
    for name, one in found[0].items():
        if permits(job.params.audit["threats"], name) and large_enough(one.membership, job):
            facts = one.membership, one.groups, one.scheme
            panel, lookup = (Panel.of_records({name: of[name].attack}, *facts) for of in found)
            yield from _control_rows(name, panel, lookup, job)


def _control_rows(name: str, panel: Panel, lookup: Panel, job: Any) -> Rows:
    """Tidy rows of the controls; lookup: the attacks on the answers of a planted model that looks records up."""
    keys = {"dataset": job.wildcards.dataset, "model": "main", "records": "targets", "checked": name}
    rng = _rng(f"{name}, controls", job)
    yield from lookup_rows(lookup, keys, job.params, rng)
    yield from innocent_rows(panel, keys, job.params, rng)


def _alone(panel: Panel, name: str) -> Panel:
    return replace(panel, attacks={name: panel.attacks[name]})


def _keys(name: str, records: str, job: Any) -> dict[str, Any]:
    keys = {"dataset": job.wildcards.dataset, "model": "main", "records": records}
    return {**keys, "threat": threat(name), "attack": name, "poison": 0}


def _rng(name: str, job: Any):
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "targets", name)
