"""Ablate the attacks of one data set: noise, number of shadow contexts, number of poisons.

python workflow_scripts/attacks/ablate_attacks.py --input main=main.nc perturbed=perturbed.nc \
    poisoned_main=poisoned.nc --output ablations.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "sizes": [16, 32, 64], "arms": {"main": {"model": "tabicl-small"}}, "attacks": {
        "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39, "perturbation": {"count": 50, "scale": 0.1}}}'

An input may be several shards. Fewer shadow contexts are the first of them, which have each record in half.
"""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from memaudit.attacks.registry import Attack
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.common import seeds, tidy
from memaudit.common.io import write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import threat_models
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.paired_differences import differences
from memaudit.statistics.threat_models import Case
from memaudit.workflow.job import run


def main(job):
    params, main_keys = job.params, {"dataset": job.wildcards.dataset, "arm": "main"}
    passive = of_input(job, "main")
    usual = variant(passive, passive.variant.values[0])
    cases = [
        *_noise(of_input(job, "perturbed"), main_keys, params.attacks["perturbation"]),
        *_shadow_sets(usual.isel(record=usual.member.values), main_keys, params.sizes),
        *(case for arm in params.arms for case in _budgets(of_input(job, f"poisoned_{arm}"), main_keys | {"arm": arm})),
    ]
    results = []
    for case in cases:
        rng = seeds.generator(params.seed, "attacks", *case.keys.values())
        results += threat_models.judged(case, params.attacks, rng)
    for ablation in ("perturbations", "perturbation scale"):
        results += _ends([case for case in cases if case.keys["ablation"] == ablation], params)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": params.seed}


def _noise(grid: xr.Dataset, keys: dict, usual: dict) -> Iterator[Case]:
    """The number of noisy copies at the usual scale, and the scale at the usual number (TabPATE, Tables 8 and 9)."""
    for i, (scale, count) in enumerate(zip(grid.scale.values, grid["count"].values, strict=True)):
        attack = threat_models.label_robustness(grid.stable.values[..., i].astype(float), int(count))
        varied = {"perturbations": int(count)} if np.isclose(scale, usual["scale"]) else {}
        varied |= {"perturbation scale": f"{scale:g}"} if count == usual["count"] else {}
        for ablation, value in varied.items():
            yield _case(keys, ablation, value, attack, grid)


def _ends(cases: list[Case], params) -> Iterator[dict]:
    """The AUC at the largest value less that at the smallest, key `less`, on the same targets and shadow contexts."""
    if len(cases) > 1:
        first, *_, last = sorted(cases, key=lambda case: float(case.keys["value"]))
        keys = last.keys | {"less": first.keys["value"]}
        rng = seeds.generator(params.seed, "attacks", *keys.values())
        options = {"fprs": params.attacks["fpr"], "replicates": params.attacks["replicates"], "groups": first.groups}
        pairs = ((case.scores(), case.membership) for case in (last, first))
        yield from rows("attacks", keys, differences(*pairs, rng=rng, **options))


def _shadow_sets(members: xr.Dataset, keys: dict, sizes: list[int]) -> Iterator[Case]:
    for size in (size for size in sizes if size <= members.sizes["model"]):
        fewer = members.isel(model=slice(size))
        yield _case(keys, "shadow sets", size, threat_models.ratio(confidence(fewer)), fewer)


def _budgets(grid: xr.Dataset, keys: dict) -> Iterator[Case]:
    for k in map(int, grid.budget.values):
        attack = threat_models.ratio(confidence(grid.sel(budget=k)))
        yield _case(keys, "poison budget", k, attack, grid)


def _case(keys: dict, ablation: str, value: object, attack: Attack, grid: xr.Dataset) -> Case:
    keys = keys | {"ablation": ablation, "value": value}
    return Case(keys, attack, grid.design.values, grid.unit.values, scheme=Scheme.of(grid.attrs))


if __name__ == "__main__":
    run(main, globals())
