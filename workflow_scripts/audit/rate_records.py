"""Rate every record of an audited table and judge every attack: vulnerability scores, posteriors, AUC, precision.

python workflow_scripts/audit/rate_records.py --input main=0.nc rows=rows.parquet \
    --output risk=risk.parquet tidy=threats.parquet --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 39,
        "perturbation": {"count": 20, "scale": 0.1}, "rmia": {"gamma": 1.0, "offline_a": 0.3}},
        "audit": {"fpr": 0.01, "base_rates": [0.1, 0.5], "threats": ["probabilities"],
        "models": {"main": "tabicl-small"}, "shown": 20, "context_rows": 1000, "smallest": true}}'

All permitted scores of the registry are computed from the same answers; the strongest one is chosen and reported on
different contexts. Inputs of further names are further models, compared by LiRA on as many shadow contexts as both
have. `perturbed`, `poisoned`, `settings` and `attention` are the score matrices with noisy copies, with mislabelled
copies, of smaller contexts and of attention, where this stage of the audit has them.
"""

from collections.abc import Iterable, Iterator, Mapping

import xarray as xr
from threadpoolctl import threadpool_limits

from memaudit.attacks.score_matrices import of_input
from memaudit.attacks.white_box_scores import joined
from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array
from memaudit.common.io import read_table, write_table
from memaudit.statistics import threat_models
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.strongest_score import AUC, choose, composite
from memaudit.statistics.threat_models import Case
from memaudit.studies.attacks.model_quality import quality
from memaudit.studies.audit import (
    audit_attacks,
    extrapolated_leakage,
    planted_checks,
    record_ratings,
    strongest_attack,
    target_attacks,
    white_box_attacks,
)
from memaudit.workflow.job import run

STUDY = "audit"


def main(job):
    audit = job.params.audit
    grids = {model: audit_attacks.first_variant(of_input(job, model)) for model in audit["models"]}
    main, threats = grids["main"], audit["threats"]
    planted = planted_checks.planted_rows(main, job.params, job.threads)
    results = list(_of_models(grids, job))
    panels = audit_attacks.panels(main, threats, job.params.attacks["rmia"])
    chosen = {records: choose(panel, audit["fpr"]) for records, panel in panels.items()}
    for records, panel in panels.items():
        control = records == list(panels)[-1]
        found, most_chosen = strongest_attack.judged(
            panel, chosen[records], _keys(job, records), job.params, control=control
        )
        results += found
    # The headline is that of the last panel, persons where one has several records.
    headline = tidy.expand(tidy.frame(found))
    headline = headline[headline["records"] == records]
    smaller = of_input(job, "settings") if job.input.get("settings") else None
    results += extrapolated_leakage.leakage_rows(main, smaller, panel, most_chosen, headline, job.params)
    results += _judged(target_attacks.target_cases(job), job)
    results += target_attacks.target_rows(job)
    if job.input.get("attention"):
        seen = joined(main, of_input(job, "attention"))
        results += white_box_attacks.white_box_rows(seen, job.params)
    results += _judged([_placebo(main, most_chosen, job)], job)
    results += _of_records(main, composite(panels["members"], chosen["members"][AUC]), job)
    # Computed meanwhile by other processes.
    results += planted()
    write_table(tidy.frame(results), job.output.tidy)
    return {"seed": job.params.seed}


def _of_models(grids: Mapping[str, xr.Dataset], job) -> Iterator[dict]:
    """Tidy rows of each model's accuracy, or error, on non-members, and of the attack by which models are compared."""
    threats = job.params.audit["threats"]
    for model, grid in grids.items():
        others = grid.isel(record=~grid.member.values)
        rng = seeds.generator(job.params.seed, STUDY, grid.dataset, "utility", model)
        keys = {"dataset": grid.dataset, "model": model, "records": "non-members"}
        yield from rows(STUDY, keys, quality(others, rng, job.params.attacks["replicates"]))
        yield from _judged([audit_attacks.on_members(grid, model, threats)], job)
        if model != "main":
            yield from _judged([audit_attacks.main_alike(grids["main"], grid, model, threats)], job)


def _of_records(grid: xr.Dataset, scores: Array, job) -> Iterator[dict]:
    """Write the risk of each record; tidy rows of how stable and how calibrated it is. scores: of the strongest one."""
    audit, members = job.params.audit, grid.isel(record=grid.member.values)
    keys, threats = _keys(job, "members"), audit["threats"]
    stability, calibration, vulnerability = (
        seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, name)
        for name in ("stability", "calibration", "exposure")  # old names are kept: draws stay the same
    )
    yield from record_ratings.agreement_rows(members, keys, audit["shown"], stability, threats)
    yield from record_ratings.calibration_rows(members, keys, calibration, threats, scores)
    risk = record_ratings.rate(members, read_table(job.input.rows), audit["base_rates"], vulnerability, threats, scores)
    write_table(risk, job.output.risk)


def _keys(job, records: str) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "model": "main", "records": records}


def _placebo(grid: xr.Dataset, name: str, job) -> Case:
    """Records in no context, by the attack that the headline reports for most contexts."""
    keys = {"dataset": job.wildcards.dataset, "model": "main"}
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "placebo")
    others, settings = grid.isel(record=~grid.member.values), (job.params.audit["threats"], job.params.attacks["rmia"])
    return threat_models.placebo(
        keys, grid, rng, name, lambda queried: audit_attacks.candidates(queried, others, *settings)[name]
    )


def _judged(cases: Iterable[Case], job) -> Iterator[dict]:
    """Tidy rows of attacks, with the precision (PPV) of their positive predictions at each base rate."""
    for one in cases:
        rng = seeds.generator(job.params.seed, STUDY, *one.keys.values())
        estimates = threat_models.estimates(one, job.params.attacks, rng)
        yield from strongest_attack.attack_rows(one.keys, estimates, one.queries, job.params.audit)


if __name__ == "__main__":
    # The job's threads are processes of their own; several threads of BLAS in each would wait for one another.
    with threadpool_limits(1):
        run(main, globals())
