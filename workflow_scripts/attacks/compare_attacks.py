"""Judge the attacks of four threat models on one data set: AUC, TPR, queries, and differences between them.

python workflow_scripts/attacks/compare_attacks.py --input main=main.nc perturbed=perturbed.nc \
    poisoned_main=poisoned.nc --output tidy=attacks.parquet roc=roc.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "arms": {"main": {"model": "tabicl-small"}}, "attacks": {"sets": 128, "fpr": [0.05, 0.01],
        "replicates": 200, "permutations": 39, "rmia": {"gamma": 1.0, "offline_a": 0.3},
        "perturbation": {"count": 50, "scale": 0.1}}}'

Every arm of the params has the grid of its poisoned contexts in `poisoned_ARM`; the passive and the perturbed grid are
those of `main`. An input may be several shards. A difference is between attacks on the same targets and shadow sets.
"""

from collections.abc import Iterator

import numpy as np
import xarray as xr
from scipy.special import log_softmax

from memaudit import seeds, tidy
from memaudit.attacks import signals
from memaudit.attacks.registry import PASSIVE, on_confidence, thresholds
from memaudit.attacks.score_matrices import CLIP, confidence, labels, of_input, stable, variant
from memaudit.data import membership_matrices
from memaudit.errors import AuditError
from memaudit.io import write_table
from memaudit.statistics import threat_models
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.threat_models import Case, case
from memaudit.workflow.job import run


def main(job):
    settings, dataset = job.params.attacks, job.wildcards.dataset
    keys = {arm: {"dataset": dataset, "arm": arm, "model": of["model"]} for arm, of in job.params.arms.items()}
    if "main" not in keys:
        raise AuditError(f"attacks, data set {dataset}: `main` is not among the params' arms; add it and its model")
    poisoned = {arm: of_input(job, f"poisoned_{arm}") for arm in keys}
    passive, perturbed = of_input(job, "main"), of_input(job, "perturbed")
    usual = variant(passive, passive.variant.values[0]).isel(model=slice(settings["sets"]))
    shown = seeds.generator(job.params.seed, "attacks", dataset, "placebo")
    cases = [*_passive(usual, keys["main"], settings["rmia"], shown)]
    cases.append(perturbation := _perturbation(perturbed, keys["main"], settings["perturbation"]))
    cases += [one for arm, grid in poisoned.items() for one in _active(grid, keys[arm])]

    asked = {"replicates": settings["replicates"]}
    results, curves = [], []
    for one in cases:
        rng = seeds.generator(job.params.seed, "attacks", *one.keys.values())
        results += threat_models.judged(one, settings, rng)
        results.append(tidy.row("attacks", one.keys, "queries", one.queries, unit="queries", n=one.design.size))
        if one.name == "brainwash":
            results += _searches(poisoned[one.keys["arm"]], one, rng, asked)
        if threat_models.has_curve(one, cases):
            curves += threat_models.curve(one, rng, **asked)
    for first, second in threat_models.pairs(cases) + _beside(usual, perturbed, perturbation):
        rng = seeds.generator(job.params.seed, "attacks", *first.keys.values(), "less", second.name)
        results += threat_models.against(first, second, settings, rng)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(curves), job.output.roc)
    return {"seed": job.params.seed}


def _passive(usual: xr.Dataset, keys: dict, rmia: dict, rng: np.random.Generator) -> Iterator[Case]:
    """LiRA, RMIA and thresholds on all members; LiRA on records that are in no context, with a design for show."""
    members, others = (usual.isel(record=chosen) for chosen in (usual.member.values, ~usual.member.values))
    compared = on_confidence({name: name for name in PASSIVE}, confidence(members), confidence(others), rmia)
    compared |= thresholds(_threshold_signals(members), members.label.values)
    for name, attack in compared.items():
        yield case({**keys, "records": "members"}, name, attack, members.design.values, members.unit.values)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    design = membership_matrices.expand(membership_matrices.balanced(usual.sizes["model"], units.max() + 1, rng), units)
    attack = compared["lira"]._replace(signals=confidence(others))
    yield case({**keys, "records": "placebo"}, "lira", attack, design, units)


def _threshold_signals(grid: xr.Dataset) -> dict[str, np.ndarray]:
    """Signals (model, record) that a threshold is laid on (TabPATE, Table 7), higher = more likely a member."""
    # Every class is clipped: an infinite loss or modified entropy has no threshold.
    logits = np.clip(log_softmax(grid.logits.values.astype(float), axis=-1), np.log(CLIP), np.log1p(-CLIP))
    truth = labels(grid)
    return {
        "loss": -signals.loss(logits, truth),
        "confidence": signals.confidence(logits),
        "prediction gap": signals.prediction_gap(logits, truth),
        "entropy": -signals.entropy(logits),
        "correctness": signals.correctness(logits, truth),
        "modified entropy": -signals.modified_entropy(logits, truth),
    }


def _perturbation(grid: xr.Dataset, keys: dict, wanted: dict) -> Case:
    """Label-only attack at the setting that is compared; the record itself is asked about, too."""
    attack = threat_models.stability(stable(grid, wanted["scale"], wanted["count"]), wanted["count"])
    queries = wanted["count"] + 1
    design, units = grid.design.values, grid.unit.values
    return case({**keys, "records": "targets"}, "perturbation", attack, design, units, queries=queries)


def _beside(usual: xr.Dataset, perturbed: xr.Dataset, perturbation: Case) -> list[tuple[Case, Case]]:
    """LiRA on the targets and sets of the perturbed grid, and the perturbation; none where the grid has not all."""
    if not np.isin(perturbed.record.values, usual.record.values).all():
        return []
    passive = usual.isel(model=slice(perturbed.sizes["model"])).sel(record=perturbed.record.values)
    if not np.array_equal(passive.design.values, perturbed.design.values):
        return []
    keys = {key: perturbation.keys[key] for key in ("dataset", "arm", "model", "records")}
    return [(case(keys, "lira", threat_models.ratio(confidence(passive)), *perturbation[2:4]), perturbation)]


def _active(grid: xr.Dataset, keys: dict) -> Iterator[Case]:
    """LiRA without and with poisons, and Brainwash, on the same targets and sets."""
    keys, cells = {**keys, "records": "targets"}, (grid.design.values, grid.unit.values)
    for k in map(int, grid.budget.values):
        attack = threat_models.ratio(confidence(grid.sel(budget=k)))
        yield case(keys, "lira poisoned" if k else "lira", attack, *cells, poison=k)
    yield case(
        keys, "brainwash", threat_models.resistance(grid.copies.values), *cells, queries=float(grid.passes.mean())
    )


def _searches(grid: xr.Dataset, one: Case, rng: np.random.Generator, asked: dict) -> Iterator[dict]:
    found = (grid[name].values for name in ("copies", "scanned", "monotone"))
    yield from rows("attacks", one.keys, threat_models.searches(*found, int(grid.most), one.groups, rng=rng, **asked))
    yield tidy.row("attacks", one.keys, "forward passes", grid.forward_passes, unit="passes", n=one.design.size)


if __name__ == "__main__":
    run(main, globals())
