"""Attack mitigations without training: labels alone, rounding, bags, smaller contexts, the privacy onion.

python workflow_scripts/attacks/compare_mitigations.py --input main=main.nc settings=settings.nc defended=defended.nc \
    perturbed=perturbed.nc ranks=ranks.parquet --output mitigations.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.05, 0.01], "replicates": 200, "permutations": 39, "decimals": [1, 2],
        "layer": 0.1, "perturbation": {"count": 50, "scale": 0.1}}}'

Vulnerability ranks were measured on the contexts of `main`; the contexts attacked here are drawn independently, from
the population of `defended`'s first variant, so no record is selected by the data that it is judged on. The onion
(Carlini et al. 2022b) compares the next layer's leakage after the first layer is dropped with that after as many random
records are dropped. Smaller contexts and perturbed queries are compared with the usual contexts on the same records.
Labels and rounded probabilities are discrete: no sigma is smaller than their resolution. `perturbed` is given where the
table has noisy copies. `attention` has that of the contexts of `defended` without and with k-anonymous keys, where the
table has it.
"""

import re
from collections.abc import Iterator
from functools import partial

import numpy as np

from memaudit.attacks.score_matrices import attackable, of_input, variant
from memaudit.attacks.white_box_scores import of_variants
from memaudit.common import seeds
from memaudit.common.io import read_table, write_table
from memaudit.common.progress_bar import steps
from memaudit.common.tidy import frame
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.attacked_records import STUDY, compared, judged
from memaudit.studies.attacks.mitigation_attacks import (
    Mitigated,
    coarser_answers,
    utilities,
    vulnerable_layers,
    with_attention,
    with_lira,
    with_perturbation,
)
from memaudit.studies.attacks.setting_attacks import varies_only
from memaudit.workflow.job import run


def main(job):
    defended = of_input(job, "defended")
    names = list(dict.fromkeys(defended.variant.values))
    grids = {re.sub(rf" ?{names[0]}$", "", name) or "none": variant(defended, name) for name in names}
    none, *others = (with_lira(name, grid) for name, grid in grids.items())
    ranks = read_table(job.input.ranks)
    layers = vulnerable_layers(ranks, job.params.attacks["layer"], grids.get("layer dropped"))
    results = []
    for case in steps([none, *coarser_answers(none, job.params.attacks["decimals"]), *others], "mitigations"):
        for chosen, records in ({"all that remain": attackable(case.grid)} | layers).items():
            results += _judged(case, none, records, chosen, job)
        results += _utility(case, none, job)
    by_name = {case.mitigation: case for case in others}
    if {"layer dropped", "layer random"} <= by_name.keys():
        between = by_name["layer dropped"]._replace(mitigation="layer dropped - layer random")
        results += _differences(between, by_name["layer random"], layers["next layer"], "next layer", job)
    if job.input.get("attention"):
        inside = [with_attention(*one) for one in of_variants(grids, of_input(job, "attention")).items()]
        for case in inside:
            results += _judged(case, inside[0], attackable(case.grid), "all that remain", job)
    results += _against_main(job)
    write_table(frame(results), job.output[0])
    return {"seed": job.params.seed}


def _judged(case: Mitigated, none: Mitigated, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    """The attack on those of the records that are in the contexts, and its difference from the undefended contexts."""
    keys = _keys(case, chosen, job)
    yield from judged(case.on(records), keys, job.params.attacks, _rng(job, *keys.values()))
    if case is not none:
        yield from _differences(case, none, records, chosen, job)


def _differences(case: Mitigated, other: Mitigated, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    keys = _keys(case, chosen, job)
    rng = _rng(job, "difference", *keys.values())
    return compared(case.on(records), other.on(records), keys, job.params.attacks, rng)


def _utility(case: Mitigated, none: Mitigated, job) -> Iterator[dict]:
    """Quality on non-members; rounding does not change the predicted class, so its accuracy is that without it."""
    keys = _keys(case, "non-members", job)
    streams = partial(_rng, job, job.wildcards.dataset, "utility")
    own, differences = utilities(case.grid, none.grid, streams, job.params.attacks["replicates"])
    yield from rows(STUDY, keys, own)
    if case is not none:
        yield from rows(STUDY, keys, differences)


def _against_main(job) -> Iterator[dict]:
    """Mitigations measured against the usual contexts of `main`: smaller contexts, and labels with noisy copies."""
    usual = variant(of_input(job, "main"), "usual")
    settings = of_input(job, "settings")
    for name in dict.fromkeys(settings.variant.values):
        if varies_only(name, "context"):
            smaller, none = with_lira(name, variant(settings, name)), with_lira("none", usual)
            yield from _judged(smaller, none, attackable(smaller.grid), "all that remain", job)
            yield from _utility(smaller, none, job)
    if not job.input.get("perturbed"):
        return
    perturbation, grid = job.params.attacks["perturbation"], of_input(job, "perturbed")
    none = with_lira("none", usual.isel(model=slice(grid.sizes["model"])))
    for case in (none, with_perturbation(grid, perturbation["scale"], perturbation["count"])):
        yield from _judged(case, none, grid.record.values, "targets", job)


def _keys(case: Mitigated, records: str, job) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "mitigation": case.mitigation, "attack": case.name, "records": records}


def _rng(job, *names: str) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, "mitigations", *names)


if __name__ == "__main__":
    run(main, globals())
