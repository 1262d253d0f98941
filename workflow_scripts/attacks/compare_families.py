"""Compare model families on one table: accuracy, and leakage by the strongest score of each, in the same contexts.

python workflow_scripts/attacks/compare_families.py --input main=main.nc other_mode=other_mode.nc \
    families=families.nc --output families.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "arms": {"main": {"model": "tabicl-small"}, "other_mode": {"model": "tabicl-small-deployed"}},
        "sets": 24, "attacks": {"fpr": [0.05, 0.01], "replicates": 200, "permutations": 39,
            "rmia": {"gamma": 1.0, "offline_a": 0.3}}}'

Every family answers for the same records in the same first contexts of `main`. Its score is chosen among all scores of
its answers on other contexts than report it (`statistics.strongest_score`), so that a choice is not rewarded. Key
`records`: "members" for leakage, "non-members" for accuracy, "redrawn" for the negative control: the members are drawn
again, as the scheme of the contexts would, and the score is chosen anew. Differences are to the model of `main`. An
arm that this table lacks is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from memaudit.attacks.score_matrices import gather, of_input, variant
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.statistics.attack_performance import Estimate, judge_options, rows
from memaudit.statistics.attacked_records import STUDY
from memaudit.statistics.mitigation_verdicts import STRONGEST
from memaudit.statistics.strongest_score import choose, judge_alike, shares
from memaudit.studies.attacks.model_quality import log_loss, log_loss_gap, quality, quality_differences
from memaudit.studies.audit.audit_attacks import panels
from memaudit.studies.audit.mitigated_answers import Mitigated, gains
from memaudit.workflow.job import run

THREATS = ("probabilities",)  # what the adversary reads, labels being among it
USUAL = "usual"


class Family(NamedTuple):
    """A family on one table.

    grid: its score matrix; attacked: its strongest scores; estimates, control: AUC and TPRs of members, and of redrawn
    memberships.
    """

    grid: xr.Dataset
    attacked: Mitigated
    estimates: Sequence[Estimate]
    control: Sequence[Estimate]


def main(job):
    results, usual = [], None
    for name, grid in steps(_grids(job).items(), "model families"):
        family = _judged(name, grid, job)
        usual = usual or family
        results += _rows(name, family, usual, job)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _grids(job) -> dict[str, xr.Dataset]:
    """Score matrix of each family by the name of its model, that of `main` first; the same contexts and records."""
    found = {}
    for arm, of in job.params.arms.items():
        if job.input.get(arm):
            found[of["model"]] = _first(of_input(job, arm), job.params.sets)
    if job.input.get("families"):
        fitted = gather(job.input.families)
        found |= {str(name): _first(fitted.sel(family=name), job.params.sets) for name in fitted.family.values}
    usual = next(iter(found.values()))
    for name, grid in found.items():
        if grid.record.values.tolist() != usual.record.values.tolist() or (grid.design != usual.design).any():
            raise AuditError(f"attacks, data set {job.wildcards.dataset}: {name} has other contexts; make them again")
    return found


def _first(grid: xr.Dataset, sets: int) -> xr.Dataset:
    return variant(grid, USUAL).isel(model=slice(sets))


def _judged(name: str, grid: xr.Dataset, job) -> Family:
    """The strongest score of a family's answers, chosen for the members as they are and as they are drawn again."""
    settings = job.params.attacks
    fpr, options = min(settings["fpr"]), judge_options(settings)
    panel = panels(grid, THREATS, settings["rmia"])["members"]
    redrawn = replace(panel, membership=panel.redrawn(_rng(job, name, "redrawn")))
    chosen = [choose(one, fpr) for one in (panel, redrawn)]
    judged = judge_alike([panel, redrawn], chosen, rng=_rng(job, name, "leakage"), **options)
    targets = grid.record.values[grid.member.values]
    return Family(grid, Mitigated.of(panel, targets, chosen[0]), *judged)


def _rows(name: str, family: Family, usual: Family, job) -> Iterator[dict[str, Any]]:
    """Tidy rows of a family, and of its differences to the model of `main`."""
    attacked, others = family.attacked, family.grid.isel(record=~family.grid.member.values)
    score, _ = attacked.most_chosen()
    keys = {"dataset": job.wildcards.dataset, "model": name, "attack": STRONGEST, "score": score}
    options = {"rng": _rng(job, "accuracy"), "replicates": job.params.attacks["replicates"]}
    leak = {**keys, "records": "members"}
    yield from rows(STUDY, leak, family.estimates)
    yield from rows(STUDY, {**keys, "records": "redrawn"}, family.control)
    for criterion, names in attacked.chosen.items():
        for chosen, share in shares(names).items():
            of_choice = {**leak, "criterion": criterion, "score": chosen}
            yield tidy.row(STUDY, of_choice, "chosen", share, n=len(attacked.membership))
    useful = {**keys, "records": "non-members"}
    yield from rows(STUDY, useful, quality(others, **options))
    yield from _in_nats(useful, log_loss(others, **options))
    if family is usual:
        return
    settings = job.params.attacks
    gained = {"fprs": settings["fpr"], "replicates": settings["replicates"], "rng": _rng(job, name, "difference")}
    yield from rows(STUDY, leak, gains(attacked, usual.attacked, **gained))
    same = usual.grid.sel(record=others.record.values)
    yield from rows(STUDY, useful, quality_differences(others, same, **options))
    yield from _in_nats(useful, log_loss_gap(others, same, **options))


def _in_nats(keys: dict[str, Any], estimates: Sequence[Estimate]) -> Iterator[dict[str, Any]]:
    return ({**row, "unit": "nats"} for row in rows(STUDY, keys, estimates))


def _rng(job, *names: str) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "families", *names)


if __name__ == "__main__":
    run(main, globals())
