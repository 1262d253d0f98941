"""Ablations of the attacks on one data set: noise, number of shadow contexts, number of poisons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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

SHADOW_SETS = "shadow sets"


class Varied(NamedTuple):
    """A case under the keys of an ablation. stream: names of its random stream; name: in that of a difference to it."""

    case: Case
    stream: tuple[Any, ...]
    name: str


def ablation_rows(
    usual: xr.Dataset,
    perturbed: xr.Dataset | None,
    attacks: Sequence[Case],
    settings: Mapping[str, Any],
    seed: int,
) -> list[dict[str, Any]]:
    """Tidy rows of the attacks' performance with one setting varied at a time.

    usual: score matrix of all shadow contexts of `main`; perturbed: label robustness of its targets, None without noisy
    copies; attacks: those of the run, of which LiRA on targets is shown by its number of poisons; settings: params
    `attacks` of attacks/compare_attacks.py. Fewer shadow contexts are the first of them, which have each record in
    half. TabPATE, Tables 6, 8 and 9.
    """
    keys = {"dataset": usual.dataset, "arm": "main"}
    varied = [
        *([] if perturbed is None else _noise(perturbed, keys, settings["perturbation"])),
        *_shadow_sets(usual.isel(record=usual.member.values), keys, settings["sizes"]),
        *_budgets(attacks),
    ]
    results = []
    for one in varied:
        results += threat_models.judged(one.case, settings, seeds.generator(seed, "attacks", *one.stream))
    for arm, ablation in dict.fromkeys((one.case.keys["arm"], one.case.keys["ablation"]) for one in varied):
        if ablation != SHADOW_SETS:
            of_one = [one for one in varied if (one.case.keys["arm"], one.case.keys["ablation"]) == (arm, ablation)]
            results += _ends(of_one, settings, seed)
    return results


def _noise(grid: xr.Dataset, keys: dict, usual: Mapping) -> Iterator[Varied]:
    """The number of noisy copies at the usual scale, and the scale at the usual number (TabPATE, Tables 8 and 9)."""
    for i in np.lexsort((grid["count"].values, grid.scale.values)):
        scale, count = grid.scale.values[i], grid["count"].values[i]
        attack = threat_models.label_robustness(grid.stable.values[..., i].astype(float), int(count))
        varied = {"perturbations": int(count)} if np.isclose(scale, usual["scale"]) else {}
        varied |= {"perturbation scale": f"{scale:g}"} if count == usual["count"] else {}
        for ablation, value in varied.items():
            yield _varied(keys, ablation, value, attack, grid)


def _ends(varied: Sequence[Varied], settings: Mapping, seed: int) -> Iterator[dict]:
    """The AUC at the largest value less that at the smallest, key `less`, on the same targets and shadow contexts."""
    if len(varied) > 1:
        first, *_, last = sorted(varied, key=lambda one: float(one.case.keys["value"]))
        keys = last.case.keys | {"less": first.case.keys["value"]}
        # As threat_models.against is called for an attack and another: one quantity has one interval.
        rng = seeds.generator(seed, "attacks", *last.stream, "less", first.name)
        options = {"fprs": settings["fpr"], "replicates": settings["replicates"], "groups": last.case.groups}
        pairs = ((one.case.scores(), one.case.membership) for one in (last, first))
        yield from rows("attacks", keys, differences(*pairs, rng=rng, **options))


def _shadow_sets(members: xr.Dataset, keys: dict, sizes: list[int]) -> Iterator[Varied]:
    for size in (size for size in sizes if size <= members.sizes["model"]):
        fewer = members.isel(model=slice(size))
        yield _varied(keys, SHADOW_SETS, size, threat_models.ratio(confidence(fewer)), fewer)


def _budgets(attacks: Sequence[Case]) -> Iterator[Varied]:
    for one in attacks:
        if one.keys["records"] == "targets" and one.name in ("lira", "lira poisoned"):
            keys = {name: one.keys[name] for name in ("dataset", "arm")}
            keys |= {"ablation": "poison budget", "value": one.keys["poison"]}
            yield Varied(one._replace(keys=keys), tuple(one.keys.values()), one.name)


def _varied(keys: dict, ablation: str, value: object, attack: Attack, grid: xr.Dataset) -> Varied:
    keys = keys | {"ablation": ablation, "value": value}
    case = Case(keys, attack, grid.design.values, grid.unit.values, scheme=Scheme.of(grid.attrs))
    return Varied(case, tuple(keys.values()), str(value))
