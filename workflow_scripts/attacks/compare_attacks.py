"""Judge the attacks of all threat models on one data set: AUC, TPR, queries, differences between them, and ablations.

python workflow_scripts/attacks/compare_attacks.py --input main=main.nc perturbed=perturbed.nc \
    poisoned_main=poisoned.nc --output tidy=attacks.parquet roc=roc.parquet ablations=ablations.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "arms": {"main": {"model": "tabicl-small"}}, "attacks": {"sets": 128, "sizes": [16, 32, 64],
        "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39, "rmia": {"gamma": 1.0, "offline_a": 0.3},
        "perturbation": {"count": 50, "scale": 0.1}}}'

Every arm of the params has the score matrix of its poisoned contexts in `poisoned_ARM`, but for a `main` with
`"poisoned": false`; the passive and the perturbed one are those of `main`. `perturbed`, and `attention`, that of its
first contexts, are given where the table has them. An input may be several shards. A difference is between attacks on
the same targets and shadow contexts.
"""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from memaudit.attacks.registry import PASSIVE, on_confidence, thresholds
from memaudit.attacks.score_matrices import confidence, of_input, threshold_signals, variant
from memaudit.attacks.white_box_scores import joined
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.statistics import chosen_attacks, detection_size, threat_models
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.threat_models import Case, case
from memaudit.studies.attacks import matched_cases, white_box_cases
from memaudit.studies.attacks.attack_ablations import ablation_rows
from memaudit.workflow.job import run


def main(job):
    settings, dataset = job.params.attacks, job.wildcards.dataset
    keys = {arm: {"dataset": dataset, "arm": arm, "model": of["model"]} for arm, of in job.params.arms.items()}
    if "main" not in keys:
        raise AuditError(f"attacks, data set {dataset}: `main` is not among the params' arms; add it and its model")
    poisoned = {
        arm: of_input(job, f"poisoned_{arm}") for arm, of in job.params.arms.items() if of.get("poisoned", True)
    }
    passive = of_input(job, "main")
    perturbed = of_input(job, "perturbed") if job.input.get("perturbed") else None
    every = variant(passive, passive.variant.values[0])
    usual = every.isel(model=slice(settings["sets"]))
    targets = {arm: {**of, "records": "targets"} for arm, of in keys.items()}
    noisy = []
    if perturbed is not None:
        noisy = [threat_models.perturbation_case(targets["main"], perturbed, settings["perturbation"])]
    rng = seeds.generator(job.params.seed, "attacks", dataset, "placebo")
    cases = [
        *_passive(usual, keys["main"], settings["rmia"]),
        *threat_models.negative_controls(keys["main"], usual, rng),
        *noisy,
        *(one for arm, grid in poisoned.items() for one in threat_models.poisoning_cases(targets[arm], grid)),
    ]

    inside = []
    if job.input.get("attention"):
        seen = joined(every, of_input(job, "attention"))
        inside = white_box_cases.white_box_cases(keys["main"], seen, settings["rmia"], job.params.seed)
        cases += inside

    results, curves = [], []
    for one in cases:
        rng = seeds.generator(job.params.seed, "attacks", *one.keys.values())
        results += _judged(one, poisoned, settings, rng)
        if threat_models.has_curve(one, cases):
            curves += threat_models.curve(one, rng, settings["replicates"])
    results += chosen_attacks.rows_of(targets["main"], perturbed, poisoned.get("main"), job.params)
    beside = [pair for one in noisy for pair in matched_cases.lira_beside(usual, perturbed, one)]
    labels_alone = matched_cases.labels_alone(perturbed, poisoned.get("main"), cases, settings["perturbation"])
    for first, second in labels_alone:
        rng = seeds.generator(job.params.seed, "attacks", *first.keys.values(), "beside", second.name)
        results += _beside_rows(first, second, settings, rng)
    for first, second in threat_models.pairs(cases) + beside + labels_alone + white_box_cases.beside(inside):
        rng = seeds.generator(job.params.seed, "attacks", *first.keys.values(), "less", second.name)
        results += threat_models.against(first, second, settings, rng)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(curves), job.output.roc)
    ablations = ablation_rows(every, perturbed, cases, settings, job.params.seed)
    write_table(tidy.frame(ablations), job.output.ablations)
    return {"seed": job.params.seed}


def _passive(usual: xr.Dataset, keys: dict, rmia: dict) -> Iterator[Case]:
    """LiRA, RMIA and thresholds on all members."""
    members, others = (usual.isel(record=chosen) for chosen in (usual.member.values, ~usual.member.values))
    compared = on_confidence({name: name for name in PASSIVE}, confidence(members), confidence(others), rmia)
    compared |= thresholds(threshold_signals(members), members.label.values)
    for name, attack in compared.items():
        yield case({**keys, "records": "members"}, name, attack, members)


def _judged(one: Case, poisoned: dict[str, xr.Dataset], settings: dict, rng: np.random.Generator) -> Iterator[dict]:
    """Performance of a case, its queries, Brainwash's searches, and the smallest AUC that attacks on targets detect."""
    yield from threat_models.judged(one, settings, rng)
    yield tidy.row("attacks", one.keys, "queries", one.queries, unit="queries", n=one.membership.size)
    if one.name == "brainwash":
        yield from _searches(poisoned[one.keys["arm"]], one, rng, settings["replicates"])
    if one.keys["records"] == "targets":
        size = detection_size.smallest_auc(*one.membership.shape)
        yield tidy.row("attacks", one.keys, "smallest auc", size, n=one.membership.size)


def _beside_rows(first: Case, second: Case, settings: dict, rng: np.random.Generator) -> Iterator[dict]:
    """AUC of the second of two compared cases and its null, where it has fewer targets and contexts than elsewhere."""
    auc = threat_models.estimates(second, settings, rng)[0]
    keys = {**first.keys, "attack": f"{first.name} - {second.name}"}
    numbers = {"low": auc.low, "high": auc.high, "null": auc.null}
    yield tidy.row("attacks", keys, "passive auc", auc.estimate, n=auc.n, method=auc.method, **numbers)


def _searches(grid: xr.Dataset, one: Case, rng: np.random.Generator, replicates: int) -> Iterator[dict]:
    results = (grid[name].values for name in ("copies", "scanned", "monotone"))
    most = int(grid.most)
    facts = threat_models.searches(*results, most, one.groups, rng=rng, replicates=replicates)
    yield from rows("attacks", one.keys, facts)
    yield tidy.row("attacks", one.keys, "forward passes", grid.forward_passes, unit="passes", n=one.membership.size)


if __name__ == "__main__":
    run(main, globals())
