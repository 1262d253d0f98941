"""Rate every record of an audited table, and every adversary: exposure, beliefs, AUC, what an accusation is worth.

python workflow_scripts/audit/rate_records.py --input main=0.nc rows=rows.parquet \
    --output risk=risk.parquet tidy=threats.parquet --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 39,
        "perturbation": {"count": 20, "scale": 0.1}}, "audit": {"fpr": 0.01, "base_rates": [0.1, 0.5],
        "threats": ["probabilities"], "models": {"main": "tabicl-small"}}}'

Inputs of further arms are further models, compared on as many shadow sets as both have. `perturbed` and `poisoned` are
the grids of noisy copies and of mislabelled ones, where this stage of the audit has them.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from memaudit import seeds, tidy
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import Attack
from memaudit.attacks.score_matrices import confidence, labels, of_input, stable, variant
from memaudit.attacks.signals import correctness
from memaudit.data import membership_matrices
from memaudit.io import read_table, write_table
from memaudit.statistics import rank_tests, record_vulnerability, split_half_agreement, threat_models
from memaudit.statistics.accusation_precision import beliefs, worth
from memaudit.statistics.attack_performance import judge_attack, rows
from memaudit.statistics.model_utility import judge_utility
from memaudit.statistics.threat_models import Case, case
from memaudit.workflow.job import run

STUDY = "audit"
SPLITS = 50


def main(job):
    audit, dataset = job.params.audit, job.wildcards.dataset
    grids = {arm: _usual(of_input(job, arm)) for arm in audit["models"]}
    main = grids["main"]
    results = []
    for arm, grid in grids.items():
        results += _utility(grid, arm, job)
        results += [row for one in _of_model(grid, arm, audit["threats"]) for row in _judged(one, job)]
        if arm != "main":
            fewer = main.isel(model=slice(grid.sizes["model"]))
            like = case({"dataset": dataset, "model": arm, "records": "main alike"}, "lira", *_ratio(fewer))
            results += _judged(like, job)
    results += [row for one in _targets(job) for row in _judged(one, job)]
    results += _judged(_placebo(main, seeds.generator(job.params.seed, STUDY, dataset, "placebo")), job)
    members = main.isel(record=main.member.values)
    results += _stability(members, job)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(_rated(members, read_table(job.input.rows), job), job.output.risk)
    return {"seed": job.params.seed}


def _usual(grid: xr.Dataset) -> xr.Dataset:
    return variant(grid, grid.variant.values[0])


def _ratio(grid: xr.Dataset) -> tuple[Attack, np.ndarray, np.ndarray]:
    """LiRA on the members of a grid, their design and their units."""
    members = grid.isel(record=grid.member.values)
    return threat_models.ratio(confidence(members)), members.design.values, members.unit.values


def _of_model(grid: xr.Dataset, arm: str, told: list[str]) -> Iterator[Case]:
    """What a passive adversary reads off the answers about all members."""
    keys = {"dataset": grid.dataset, "model": arm, "records": "members"}
    attack, design, units = _ratio(grid)
    yield case(keys, "lira", attack, design, units)
    if "labels" in told:
        members = grid.isel(record=grid.member.values)
        right = correctness(members.logits.values.astype(float), labels(members))
        yield case(keys, "correctness", Attack(right, "lira", {"floor": resolution_floor(1)}), design, units)


def _targets(job) -> Iterator[Case]:
    """The attacks that are so dear that only some members are attacked."""
    keys = {"dataset": job.wildcards.dataset, "model": "main", "records": "targets"}
    if job.input.get("perturbed"):
        grid, wanted = of_input(job, "perturbed"), job.params.attacks["perturbation"]
        attack = threat_models.stability(stable(grid, wanted["scale"], wanted["count"]), wanted["count"])
        cells = grid.design.values, grid.unit.values
        yield case(keys, "perturbation", attack, *cells, queries=wanted["count"] + 1)
    if job.input.get("poisoned"):
        grid = of_input(job, "poisoned")
        cells = grid.design.values, grid.unit.values
        for k in map(int, grid.budget.values):
            attack = threat_models.ratio(confidence(grid.sel(budget=k)))
            yield case(keys, "lira poisoned" if k else "lira", attack, *cells, poison=k)
        passes = float(grid.passes.mean())
        yield case(keys, "brainwash", threat_models.resistance(grid.copies.values), *cells, queries=passes)


def _placebo(grid: xr.Dataset, rng: np.random.Generator) -> Case:
    """LiRA on records that are in no context, with a design for show."""
    others = grid.isel(record=~grid.member.values)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    design = membership_matrices.expand(membership_matrices.balanced(grid.sizes["model"], units.max() + 1, rng), units)
    keys = {"dataset": grid.dataset, "model": "main", "records": "placebo"}
    return case(keys, "lira", threat_models.ratio(confidence(others)), design, units)


def _judged(one: Case, job) -> Iterator[dict]:
    """Tidy rows of an attack, and what its accusations are worth at each base rate."""
    asked, audit = job.params.attacks, job.params.audit
    rng = seeds.generator(job.params.seed, STUDY, *one.keys.values())
    options = {"fprs": asked["fpr"], "replicates": asked["replicates"], "permutations": asked["permutations"]}
    found = judge_attack(one.attack, one.design, rng=rng, groups=one.groups, **options)
    yield from rows(STUDY, one.keys, found)
    yield tidy.row(STUDY, one.keys, "queries", one.queries, unit="queries", n=one.design.size)
    for base_rate, estimate in worth(found, audit["fpr"], audit["base_rates"]):
        yield from rows(STUDY, {**one.keys, "base rate": base_rate}, [estimate])
    print(f"{tidy.setting(one.keys)}: AUC {found[0].estimate:.3f}", flush=True)


def _utility(grid: xr.Dataset, arm: str, job) -> Iterator[dict]:
    others = grid.isel(record=~grid.member.values)
    right = correctness(others.logits.values.astype(float), labels(others)) > 0
    options = {"groups": others.unit.values, "replicates": job.params.attacks["replicates"]}
    rng = seeds.generator(job.params.seed, STUDY, grid.dataset, "utility", arm)
    keys = {"dataset": grid.dataset, "model": arm, "records": "non-members"}
    yield from rows(STUDY, keys, judge_utility(right, others.label.values, rng=rng, **options))


def _stability(members: xr.Dataset, job) -> Iterator[dict]:
    """Would another half of the shadow sets name the same records?"""
    rng = seeds.generator(job.params.seed, STUDY, members.dataset, "stability")
    signals, design = confidence(members), members.design.values
    for found in split_half_agreement.agreement_by_models(signals, design, [len(design)], rng, SPLITS):
        keys = {"dataset": members.dataset, "model": "main", "records": "members", "models": found.models}
        interval = {"low": found.low, "high": found.high, "null": found.null}
        method = f"{SPLITS} random halves, 95 % of them; null: permuted designs"
        yield tidy.row(STUDY, keys, found.metric, found.estimate, n=design.size, method=method, **interval)
        yield tidy.row(STUDY, keys, f"{found.metric} extrapolated", found.extrapolated, n=design.size, method=method)


def _rated(members: xr.Dataset, located: pd.DataFrame, job) -> pd.DataFrame:
    """One line a record, the most exposed first: id, row of the table, exposure with interval, beliefs, rank."""
    one = threat_models.Case({}, *_ratio(members))
    signals, design = one.attack.signals, one.design
    rng = seeds.generator(job.params.seed, STUDY, members.dataset, "exposure")
    replicates = job.params.attacks["replicates"]
    vulnerability = record_vulnerability.vulnerability_score_cohens_d(signals, design, rng, replicates)
    scores = one.scores()
    table = pd.DataFrame({"id": members.record.values}).merge(located.drop_duplicates("id"), on="id", how="left")
    table[["exposure", "low", "high"]] = vulnerability
    table["shows"] = rank_tests.detected_records(signals, design)
    for base_rate in job.params.audit["base_rates"]:
        table[f"belief_{base_rate:g}"] = beliefs(scores, design, base_rate)
    table = table.sort_values("exposure", ascending=False, kind="stable", ignore_index=True)
    return table.assign(rank=np.arange(1, len(table) + 1))


if __name__ == "__main__":
    run(main, globals())
