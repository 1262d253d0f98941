"""Mitigations without training, attacked anew: labels alone, rounding, bags, smaller contexts, the privacy onion.

python workflow_scripts/attacks/compare_mitigations.py --input main=main.nc settings=settings.nc defended=defended.nc \
    perturbed=perturbed.nc ranks=ranks.parquet --output mitigations.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.05, 0.01], "replicates": 200, "permutations": 39, "decimals": [1, 2],
        "layer": 0.1, "perturbation": {"count": 50, "scale": 0.1}}}'

Who is most exposed was measured on the contexts of `main`; the contexts attacked here are others, of the population of
`defended`'s first variant: no record is chosen by what is then measured. The onion (Carlini et al. 2022b): once the
first layer is dropped, is the next one more exposed, and more so than when as many random records are dropped?
Smaller contexts and the perturbed grid have the usual contexts beside them, on the same records. Labels and rounded
probabilities take steps: no sigma is smaller than what these give.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import softmax

from memaudit import seeds
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import Attack
from memaudit.attacks.score_matrices import attackable, confidence, labels, of_input, stable, variant
from memaudit.attacks.signals import correctness
from memaudit.errors import AuditError
from memaudit.io import read_table, write_table
from memaudit.statistics import record_vulnerability
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.context_attacks import STUDY, Attacked, compared, judged, varies_only
from memaudit.statistics.model_utility import judge_utility, utility_differences
from memaudit.statistics.threat_models import ratio, stability
from memaudit.tidy import frame
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps

DISCRETE = {"floor": resolution_floor(1)}


class Case(NamedTuple):
    """One attack, by name, on one mitigation and on all records of a grid: design, unit, logits for the utility."""

    mitigation: str
    name: str
    grid: xr.Dataset
    attack: Attack

    def on(self, records: np.ndarray) -> Attacked:
        grid = self.grid
        whole = Attacked(grid.record.values, self.attack, grid.design.values, grid.unit.values)
        return whole.on(records[np.isin(records, attackable(grid))])


def main(job):
    defended = of_input(job, "defended")
    names = list(dict.fromkeys(defended.variant.values))
    grids = {re.sub(rf" ?{names[0]}$", "", name) or "none": variant(defended, name) for name in names}
    none, *others = (_usual(name, grid) for name, grid in grids.items())
    layers = _layers(read_table(job.input.ranks), job.params.attacks["layer"], grids)
    results = []
    for case in steps([none, *_answers(none, job.params.attacks["decimals"]), *others], "mitigations"):
        for chosen, records in ({"all that remain": attackable(case.grid)} | layers).items():
            results += _judged(case, none, records, chosen, job)
        results += _utility(case, none, job)
    by_name = {case.mitigation: case for case in others}
    if {"layer dropped", "layer random"} <= by_name.keys():
        between = by_name["layer dropped"]._replace(mitigation="layer dropped - layer random")
        results += _differences(between, by_name["layer random"], layers["next layer"], "next layer", job)
    results += _against_main(job)
    write_table(frame(results), job.output[0])
    return {"seed": job.params.seed}


def _usual(name: str, grid: xr.Dataset) -> Case:
    return Case(name, "lira", grid, ratio(confidence(grid)))


def _answers(none: Case, decimals: list[int]) -> Iterator[Case]:
    """The same contexts, whose owner says less: the label alone, or rounded probabilities with it."""
    logits, truth = none.grid.logits.values.astype(float), labels(none.grid)
    yield Case("labels only", "lira on correctness", none.grid, Attack(correctness(logits, truth), "lira", DISCRETE))
    own = np.take_along_axis(softmax(logits, axis=-1), truth[..., None], axis=-1)[..., 0]
    for digits in decimals:
        rounded = Attack(record_vulnerability.rounded_confidence(own, digits), "lira", DISCRETE)
        yield Case(f"decimals {digits}", "lira", none.grid, rounded)


def _layers(ranks, layer: float, grids: dict[str, xr.Dataset]) -> dict[str, np.ndarray]:
    """Ids of the most exposed, and of as many that come after them."""
    exposed, size = ranks.sort_values("rank")["id"].to_numpy(), record_vulnerability.layer_size(layer, len(ranks))
    dropped = grids.get("layer dropped")
    if dropped is not None and np.isin(exposed[:size], attackable(dropped)).any():
        raise AuditError(
            f"attacks, data set {dropped.dataset}: the contexts without the first layer hold some of it; make the grid"
            " of `defended` anew from these ranks"
        )
    return {"next layer": exposed[size : 2 * size], "first layer": exposed[:size]}


def _judged(case: Case, none: Case, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    """The attack on those of the records that stand in the contexts, and how it differs from the undefended one."""
    keys = _keys(case, chosen, job)
    yield from judged(case.on(records), keys, job.params.attacks, _rng(job, *keys.values()))
    if case is not none:
        yield from _differences(case, none, records, chosen, job)


def _differences(case: Case, other: Case, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    keys = _keys(case, chosen, job)
    rng = _rng(job, "difference", *keys.values())
    return compared(case.on(records), other.on(records), keys, job.params.attacks, rng)


def _utility(case: Case, none: Case, job) -> Iterator[dict]:
    """Right answers about non-members; rounding leaves the answer as it is, so those cases have the answers of none."""
    sets = min(case.grid.sizes["model"], none.grid.sizes["model"])
    grid = case.grid.isel(record=~case.grid.member.values, model=slice(sets))
    same = none.grid.isel(model=slice(sets)).sel(record=grid.record.values)
    keys, truth = _keys(case, "non-members", job), grid.label.values
    options = {"groups": grid.unit.values, "replicates": job.params.attacks["replicates"]}
    correct, usual = (correctness(part.logits.values, labels(part)) > 0 for part in (grid, same))
    # One stream for all mitigations: equal answers have equal intervals.
    stream = job.wildcards.dataset, "utility", str(sets)
    yield from rows(STUDY, keys, judge_utility(correct, truth, rng=_rng(job, *stream), **options))
    if case is not none:
        yield from rows(STUDY, keys, utility_differences(correct, usual, truth, rng=_rng(job, *stream), **options))


def _against_main(job) -> Iterator[dict]:
    """What has no contexts of the defended population: smaller contexts, and labels alone with noisy copies."""
    usual = variant(of_input(job, "main"), "usual")
    settings = of_input(job, "settings") if job.input.get("settings") else None
    for name in () if settings is None else dict.fromkeys(settings.variant.values):
        if varies_only(name, "context"):
            smaller, none = _usual(name, variant(settings, name)), _usual("none", usual)
            yield from _judged(smaller, none, attackable(smaller.grid), "all that remain", job)
            yield from _utility(smaller, none, job)
    wanted, grid = job.params.attacks["perturbation"], of_input(job, "perturbed")
    none = _usual("none", usual.isel(model=slice(grid.sizes["model"])))
    noisy = stability(stable(grid, wanted["scale"], wanted["count"]), wanted["count"])
    for case in (none, Case("labels only", "perturbation", grid, noisy)):
        yield from _judged(case, none, grid.record.values, "targets", job)


def _keys(case: Case, records: str, job) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "mitigation": case.mitigation, "attack": case.name, "records": records}


def _rng(job, *names: str) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, "mitigations", *names)


if __name__ == "__main__":
    run(main, globals())
