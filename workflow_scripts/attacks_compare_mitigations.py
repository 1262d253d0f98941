"""Mitigations without training, attacked anew: labels alone, rounding, bags, smaller contexts, the privacy onion.

python workflow_scripts/attacks_compare_mitigations.py --input main=main.nc settings=settings.nc defended=defended.nc \
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
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import softmax

from memaudit import seeds
from memaudit.attacks.signals import correctness
from memaudit.calibration.attacks import Attack
from memaudit.calibration.calibrate import calibrate
from memaudit.calibration.lira import resolution_floor
from memaudit.errors import AuditError
from memaudit.evaluation import risk
from memaudit.evaluation.differences import differences
from memaudit.evaluation.judge import judge_attack, rows
from memaudit.evaluation.utility import judge_utility, utility_differences
from memaudit.grids import attackable, confidence, labels, of_input, stable, variant
from memaudit.io import read_table, write_table
from memaudit.job import run
from memaudit.steps import steps
from memaudit.tidy import frame

STUDY = "attacks"
DISCRETE = {"floor": resolution_floor(1)}


class Case(NamedTuple):
    """One attack on one mitigation; grid: design and unit, of all records; signals: (model, record) of the grid."""

    mitigation: str
    attack: str
    grid: xr.Dataset
    signals: np.ndarray
    options: Mapping[str, Any] = {}

    def on(self, records: np.ndarray) -> tuple[Attack, np.ndarray]:
        """The attack on these records, and their design."""
        chosen = self.grid.get_index("record").get_indexer(records)
        return Attack(self.signals[:, chosen], "lira", self.options), self.grid.design.values[:, chosen]

    def scores(self, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        attack, design = self.on(records)
        return calibrate(attack.signals, design, attack.method, **attack.options), design


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
    return Case(name, "lira", grid, confidence(grid))


def _answers(none: Case, decimals: list[int]) -> Iterator[Case]:
    """The same contexts, whose owner says less: the label alone, or rounded probabilities with it."""
    logits, truth = none.grid.logits.values.astype(float), labels(none.grid)
    yield Case("labels only", "lira on correctness", none.grid, correctness(logits, truth), DISCRETE)
    own = np.take_along_axis(softmax(logits, axis=-1), truth[..., None], axis=-1)[..., 0]
    for digits in decimals:
        yield Case(f"decimals {digits}", "lira", none.grid, risk.rounded_confidence(own, digits), DISCRETE)


def _layers(ranks, layer: float, grids: dict[str, xr.Dataset]) -> dict[str, np.ndarray]:
    """Ids of the most exposed, and of as many that come after them."""
    exposed, size = ranks.sort_values("rank")["id"].to_numpy(), risk.layer_size(layer, len(ranks))
    dropped = grids.get("layer dropped")
    if dropped is not None and np.isin(exposed[:size], attackable(dropped)).any():
        raise AuditError(
            f"attacks, data set {dropped.dataset}: the contexts without the first layer hold some of it; make the grid"
            " of `defended` anew from these ranks"
        )
    return {"next layer": exposed[size : 2 * size], "first layer": exposed[:size]}


def _judged(case: Case, none: Case, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    """The attack on those of the records that stand in the contexts, and how it differs from the undefended one."""
    records = records[np.isin(records, attackable(case.grid))]
    if not len(records):
        return
    asked, keys = job.params.attacks, _keys(case, chosen, job)
    attack, design = case.on(records)
    options = {"fprs": asked["fpr"], "replicates": asked["replicates"], "permutations": asked["permutations"]}
    groups = case.grid.sel(record=records).unit.values
    estimates = judge_attack(attack, design, rng=_rng(job, *keys.values()), groups=groups, **options)
    yield from rows(STUDY, keys, estimates)
    if case is not none:
        yield from _differences(case, none, records, chosen, job)


def _differences(case: Case, other: Case, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    records = records[np.isin(records, attackable(case.grid)) & np.isin(records, attackable(other.grid))]
    asked, keys = job.params.attacks, _keys(case, chosen, job)
    options = {"fprs": asked["fpr"], "replicates": asked["replicates"]}
    options["groups"] = other.grid.sel(record=records).unit.values
    rng = _rng(job, "difference", *keys.values())
    return rows(STUDY, keys, differences(case.scores(records), other.scores(records), rng=rng, **options))


def _utility(case: Case, none: Case, job) -> Iterator[dict]:
    """Right answers about non-members; rounding leaves the answer as it is, so those cases have the answers of none."""
    grid = case.grid.isel(record=~case.grid.member.values)
    same = none.grid.sel(record=grid.record.values)
    truth, replicates = grid.label.values, job.params.attacks["replicates"]
    keys = _keys(case, "non-members", job)
    options = {"rng": _rng(job, *keys.values()), "groups": grid.unit.values, "replicates": replicates}
    correct, usual = (correctness(part.logits.values, labels(part)) > 0 for part in (grid, same))
    yield from rows(STUDY, keys, judge_utility(correct, truth, **options))
    if case is not none:
        yield from rows(STUDY, keys, utility_differences(correct, usual, truth, **options))


def _against_main(job) -> Iterator[dict]:
    """What has no contexts of the defended population: smaller contexts, and labels alone with noisy copies."""
    usual, settings = variant(of_input(job, "main"), "usual"), of_input(job, "settings")
    for name in dict.fromkeys(settings.variant.values):
        if re.fullmatch(r"context \d+", name):
            smaller = _usual(name, variant(settings, name))
            none = _usual("none", usual.isel(model=slice(smaller.grid.sizes["model"])))
            yield from _judged(smaller, none, attackable(smaller.grid), "all that remain", job)
            yield from _utility(smaller, none, job)
    wanted, grid = job.params.attacks["perturbation"], of_input(job, "perturbed")
    none = _usual("none", usual.isel(model=slice(grid.sizes["model"])))
    stay = stable(grid, wanted["scale"], wanted["count"])
    noisy = Case("labels only", "perturbation", grid, stay, {"floor": resolution_floor(1 / wanted["count"])})
    for case in (none, noisy):
        yield from _judged(case, none, grid.record.values, "targets", job)


def _keys(case: Case, records: str, job) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "mitigation": case.mitigation, "attack": case.attack, "records": records}


def _rng(job, *names: str) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, "mitigations", *names)


if __name__ == "__main__":
    run(main, globals())
