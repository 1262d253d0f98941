"""Ablations of the attacks on one data set: noise, number of shadow contexts, number of poisons."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.score_matrices import confidence
from memaudit.common import seeds
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import threat_models
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.paired_differences import differences
from memaudit.statistics.threat_models import Case


def ablation_rows(
    usual: xr.Dataset,
    perturbed: xr.Dataset,
    poisoned: Mapping[str, xr.Dataset],
    settings: Mapping[str, Any],
    seed: int,
) -> list[dict[str, Any]]:
    """Tidy rows of the attacks' performance with one setting varied at a time.

    usual: score matrix of all shadow contexts of `main`; perturbed: label robustness of its targets; poisoned: score
    matrix of each condition's poisoned contexts; settings: params `attacks` of attacks/compare_attacks.py. Fewer shadow
    contexts are the first of them, which have each record in half. TabPATE, Tables 8 and 9.
    """
    keys = {"dataset": usual.dataset, "arm": "main"}
    cases = [
        *_noise(perturbed, keys, settings["perturbation"]),
        *_shadow_sets(usual.isel(record=usual.member.values), keys, settings["sizes"]),
        *(case for arm, grid in poisoned.items() for case in _budgets(grid, keys | {"arm": arm})),
    ]
    results = []
    for case in cases:
        results += threat_models.judged(case, settings, seeds.generator(seed, "attacks", *case.keys.values()))
    varied = [("main", "perturbations"), ("main", "perturbation scale"), *((arm, "poison budget") for arm in poisoned)]
    for one in varied:
        results += _ends([case for case in cases if (case.keys["arm"], case.keys["ablation"]) == one], settings, seed)
    return results


def _noise(grid: xr.Dataset, keys: dict, usual: Mapping) -> Iterator[Case]:
    """The number of noisy copies at the usual scale, and the scale at the usual number (TabPATE, Tables 8 and 9)."""
    for i, (scale, count) in enumerate(zip(grid.scale.values, grid["count"].values, strict=True)):
        attack = threat_models.label_robustness(grid.stable.values[..., i].astype(float), int(count))
        varied = {"perturbations": int(count)} if np.isclose(scale, usual["scale"]) else {}
        varied |= {"perturbation scale": f"{scale:g}"} if count == usual["count"] else {}
        for ablation, value in varied.items():
            yield _case(keys, ablation, value, attack, grid)


def _ends(cases: list[Case], settings: Mapping, seed: int) -> Iterator[dict]:
    """The AUC at the largest value less that at the smallest, key `less`, on the same targets and shadow contexts."""
    if len(cases) > 1:
        first, *_, last = sorted(cases, key=lambda case: float(case.keys["value"]))
        keys = last.keys | {"less": first.keys["value"]}
        rng = seeds.generator(seed, "attacks", *keys.values())
        options = {"fprs": settings["fpr"], "replicates": settings["replicates"], "groups": first.groups}
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
