"""Rate every record of an audited table and judge every attack: vulnerability scores, posteriors, AUC, precision.

python workflow_scripts/audit/rate_records.py --input main=0.nc rows=rows.parquet \
    --output risk=risk.parquet tidy=threats.parquet --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 39,
        "perturbation": {"count": 20, "scale": 0.1}}, "audit": {"fpr": 0.01, "base_rates": [0.1, 0.5],
        "threats": ["probabilities"], "models": {"main": "tabicl-small"}}}'

Inputs of further names are further models, compared on as many shadow contexts as both have. `perturbed` and `poisoned`
are the score matrices with noisy copies and with mislabelled copies, where this stage of the audit has them.
"""

from collections.abc import Iterator

import xarray as xr

from memaudit import seeds, tidy
from memaudit.attacks.score_matrices import confidence, labels, of_input
from memaudit.attacks.signals import correctness
from memaudit.io import read_table, write_table
from memaudit.statistics import audit_cases, record_ratings, split_half_agreement
from memaudit.statistics.accusation_precision import worth
from memaudit.statistics.attack_performance import judge_attack, rows
from memaudit.statistics.model_utility import judge_utility
from memaudit.statistics.threat_models import Case
from memaudit.workflow.job import run

STUDY = "audit"
SPLITS = 50


def main(job):
    audit, dataset = job.params.audit, job.wildcards.dataset
    grids = {model: audit_cases.first_variant(of_input(job, model)) for model in audit["models"]}
    main = grids["main"]
    results = []
    for model, grid in grids.items():
        results += _utility(grid, model, job)
        cases = [*audit_cases.passive(grid, model, audit["threats"])]
        if model != "main":
            cases.append(audit_cases.main_alike(main, grid, dataset, model))
        results += _judged(cases, job)
    results += _judged(_on_targets(job), job)
    rng = seeds.generator(job.params.seed, STUDY, dataset, "placebo")
    results += _judged([audit_cases.negative_control(main, rng)], job)
    members = main.isel(record=main.member.values)
    results += _agreement(members, job)
    write_table(tidy.frame(results), job.output.tidy)
    rng = seeds.generator(job.params.seed, STUDY, members.dataset, "exposure")
    replicates = job.params.attacks["replicates"]
    rated = record_ratings.rate(members, read_table(job.input.rows), audit["base_rates"], replicates, rng)
    write_table(rated, job.output.risk)
    return {"seed": job.params.seed}


def _on_targets(job) -> Iterator[Case]:
    """The attacks that need many queries, on some of the members."""
    dataset = job.wildcards.dataset
    if job.input.get("perturbed"):
        grid = of_input(job, "perturbed")
        yield audit_cases.perturbation(grid, dataset, job.params.attacks["perturbation"])
    if job.input.get("poisoned"):
        yield from audit_cases.active(of_input(job, "poisoned"), dataset)


def _judged(cases, job) -> Iterator[dict]:
    """Tidy rows of attacks, with the precision (PPV) of their positive predictions at each base rate."""
    settings, audit = job.params.attacks, job.params.audit
    options = {"fprs": settings["fpr"], "replicates": settings["replicates"], "permutations": settings["permutations"]}
    for one in cases:
        rng = seeds.generator(job.params.seed, STUDY, *one.keys.values())
        estimates = judge_attack(one.attack, one.design, rng=rng, groups=one.groups, **options)
        yield from rows(STUDY, one.keys, estimates)
        yield tidy.row(STUDY, one.keys, "queries", one.queries, unit="queries", n=one.design.size)
        for base_rate, estimate in worth(estimates, audit["fpr"], audit["base_rates"]):
            yield from rows(STUDY, {**one.keys, "base rate": base_rate}, [estimate])
        print(f"{tidy.setting(one.keys)}: AUC {estimates[0].estimate:.3f}", flush=True)


def _utility(grid: xr.Dataset, model: str, job) -> Iterator[dict]:
    """Tidy rows of a model's accuracy on records that are in no context."""
    others = grid.isel(record=~grid.member.values)
    right = correctness(others.logits.values.astype(float), labels(others)) > 0
    options = {"groups": others.unit.values, "replicates": job.params.attacks["replicates"]}
    rng = seeds.generator(job.params.seed, STUDY, grid.dataset, "utility", model)
    keys = {"dataset": grid.dataset, "model": model, "records": "non-members"}
    yield from rows(STUDY, keys, judge_utility(right, others.label.values, rng=rng, **options))


def _agreement(members: xr.Dataset, job) -> Iterator[dict]:
    """Tidy rows of the agreement between vulnerability scores of two halves of the shadow contexts."""
    rng = seeds.generator(job.params.seed, STUDY, members.dataset, "stability")
    signals, membership = confidence(members), members.design.values
    for one in split_half_agreement.agreement_by_models(signals, membership, [len(membership)], rng, SPLITS):
        keys = {"dataset": members.dataset, "model": "main", "records": "members", "models": one.models}
        interval = {"low": one.low, "high": one.high, "null": one.null}
        method = f"{SPLITS} random halves, 95 % of them; null: permuted designs"
        yield tidy.row(STUDY, keys, one.metric, one.estimate, n=membership.size, method=method, **interval)
        yield tidy.row(STUDY, keys, f"{one.metric} extrapolated", one.extrapolated, n=membership.size, method=method)


if __name__ == "__main__":
    run(main, globals())
