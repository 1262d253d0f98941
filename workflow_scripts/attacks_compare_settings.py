"""What shapes the leak: context size, columns, copies, model and mode, another population; and what accuracy goes with.

python workflow_scripts/attacks_compare_settings.py --input main=main.nc settings=settings.nc deployed=deployed.nc \
    --output settings.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39},
        "arms": {"main": {"model": "tabicl-small", "mode": "raw"}, "settings": {"model": "tabicl-small", "mode": "raw"},
            "deployed": {"model": "tabicl-small", "mode": "as_deployed"}}}'

LiRA of the members in each variant's contexts. More shadow sets make a better attack: the usual contexts are attacked
with each number of sets that a variant has, key `sets`. Key `records`: "all" that stand in the variant's contexts;
"common" to all context sizes, whose populations are nested; "copied", the targets that stand there several times.
"""

import re
from collections.abc import Iterator

import numpy as np

from memaudit import seeds, tidy
from memaudit.attacks.signals import correctness
from memaudit.calibration.attacks import Attack
from memaudit.calibration.calibrate import calibrate
from memaudit.errors import AuditError
from memaudit.evaluation import risk
from memaudit.evaluation.bootstrap import two_way_weights
from memaudit.evaluation.differences import differences, metric_samples
from memaudit.evaluation.judge import judge_attack, rows
from memaudit.evaluation.utility import judge_utility
from memaudit.grids import attackable, confidence, gather, labels, variant
from memaudit.io import write_table
from memaudit.job import run
from memaudit.steps import steps

STUDY = "attacks"
ELSEWHERE = ("shares", "bags", "layer")  # other questions than membership, or mitigations
KEYS = ("context", "features", "order", "copies", "population", *ELSEWHERE)


def main(job):
    grids = {(arm, name): grid for arm in job.params.arms for name, grid in _variants(job.input.get(arm), job)}
    if (usual := grids.get(("main", "usual"))) is None:
        raise AuditError(
            f"attacks, data set {job.wildcards.dataset}: the arm `main` has no usual contexts to compare with; add {{}}"
            " to its variants"
        )
    results = []
    for (arm, name), grid in steps(grids.items(), "variants"):
        results += _judged(arm, name, grid, attackable(grid), "all", job)
        results += _utility(arm, name, grid, job)
    for sets in sorted({grid.sizes["model"] for grid in grids.values()} - {usual.sizes["model"]}):
        results += _judged("main", "usual", _first(usual, sets), attackable(usual), "all", job)
    settings = {name: grid for (arm, name), grid in grids.items() if arm == "settings"}
    results += _on_same_records(settings, usual, "context", "common", job)
    results += _on_same_records(settings, usual, "copies", "copied", job)
    results += _confounds(grids, job)
    results += _features(
        {name: grid for name, grid in settings.items() if _only(name, "features", "order")}, usual, job
    )
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _variants(paths, job) -> Iterator[tuple[str, object]]:
    """Variants of one arm that are asked about membership, at most the first `sets` shadow sets of each."""
    if not paths:
        return  # the table does not have the arm
    grid = gather(paths)
    for name in dict.fromkeys(grid.variant.values):
        if not _parsed(name).keys() & set(ELSEWHERE):
            yield name, _first(variant(grid, name), job.params.attacks["sets"])


def _parsed(name: str) -> dict[str, str]:
    """ "features 4 order 1" -> {"features": "4", "order": "1"}; "usual" -> {}."""
    return dict(re.findall(rf"({'|'.join(KEYS)}) (\S+)", name))


def _only(name: str, key: str, *others: str) -> bool:
    return key in _parsed(name) and _parsed(name).keys() <= {key, *others}


def _first(grid, sets: int):
    return grid.isel(model=slice(0, sets))


def _attack(grid, records: np.ndarray) -> tuple[Attack, np.ndarray, np.ndarray]:
    """LiRA on these records, the design, and the records' units."""
    grid = grid.sel(record=records)
    return Attack(confidence(grid), "lira"), grid.design.values, grid.unit.values


def _scored(grid, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    attack, design, _ = _attack(grid, records)
    return calibrate(attack.signals, design, attack.method), design


def _keys(arm: str, name: str, grid, records: str, job) -> dict:
    of_variant = _parsed(name)
    return {
        "dataset": job.wildcards.dataset,
        "arm": arm,
        **job.params.arms[arm],
        "variant": name,
        "context": f"{grid.design.values.sum(1).mean():.4g}",
        "features": of_variant.get("features", grid.sizes["feature"]),
        **{key: of_variant.get(key, usual) for key, usual in (("order", 0), ("copies", 1), ("population", 0))},
        "sets": grid.sizes["model"],
        "records": records,
    }


def _judged(arm: str, name: str, grid, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    asked, keys = job.params.attacks, _keys(arm, name, grid, chosen, job)
    attack, design, units = _attack(grid, records)
    options = {"fprs": asked["fpr"], "replicates": asked["replicates"], "permutations": asked["permutations"]}
    estimates = judge_attack(attack, design, rng=_rng(job, *keys.values()), groups=units, **options)
    return rows(STUDY, keys, estimates)


def _utility(arm: str, name: str, grid, job) -> Iterator[dict]:
    others, keys = grid.isel(record=~grid.member.values), _keys(arm, name, grid, "non-members", job)
    correct = correctness(others.logits.values, labels(others)) > 0
    options = {"groups": others.unit.values, "replicates": job.params.attacks["replicates"]}
    return rows(STUDY, keys, judge_utility(correct, others.label.values, rng=_rng(job, *keys.values()), **options))


def _on_same_records(settings: dict, usual, key: str, chosen: str, job) -> Iterator[dict]:
    """Attacks on the records that all variants of one kind share, and on them in the usual contexts."""
    kind = {name: grid for name, grid in settings.items() if _only(name, key)}
    shared = attackable(usual)
    for grid in kind.values():
        attacked = grid.record.values[(grid.counts.values > 1).any(0)] if key == "copies" else attackable(grid)
        shared = shared[np.isin(shared, attacked)]
    for name, grid in kind.items():
        yield from _judged("settings", name, grid, shared, chosen, job)
    for sets in sorted({grid.sizes["model"] for grid in kind.values()}):
        yield from _judged("main", "usual", _first(usual, sets), shared, chosen, job)


def _confounds(grids: dict, job) -> Iterator[dict]:
    """Other contexts of one kind, and other models or modes on contexts of one draw."""
    for (arm, name), grid in grids.items():
        if _only(name, "population"):
            yield from _difference(f"{name} - usual", grid, grids["main", "usual"], job)
        earlier = [other for other, its in grids if its == name]
        if earlier[0] != arm:
            yield from _difference(f"{arm} - {earlier[0]}", grid, grids[earlier[0], name], job)


def _difference(variant_key: str, changed, usual, job) -> Iterator[dict]:
    asked, sets = job.params.attacks, min(changed.sizes["model"], usual.sizes["model"])
    changed, usual = _first(changed, sets), _first(usual, sets)
    records = np.intersect1d(attackable(changed), attackable(usual))
    options = {"fprs": asked["fpr"], "groups": usual.sel(record=records).unit.values, "replicates": asked["replicates"]}
    rng = _rng(job, "difference", variant_key)
    estimates = differences(_scored(changed, records), _scored(usual, records), rng=rng, **options)
    keys = {"dataset": job.wildcards.dataset, "variant": variant_key, "sets": sets, "records": "all"}
    return rows(STUDY, keys, estimates)


def _features(settings: dict, usual, job) -> Iterator[dict]:
    """Does the AUC grow with the number of columns? On as many sets of each variant, with common weights."""
    variants = {name: grid for name, grid in settings.items() if _only(name, "features", "order")}
    if not variants:
        return iter(())
    sets = min(grid.sizes["model"] for grid in (usual, *variants.values()))
    records, rng = attackable(usual), _rng(job, "features")
    units = usual.sel(record=records).unit.values
    weights = two_way_weights(sets, len(records), job.params.attacks["replicates"], rng, units)
    numbers = [*(int(_parsed(name)["features"]) for name in variants), usual.sizes["feature"]]
    pairs = [
        metric_samples(*_scored(_first(grid, sets), records), job.params.attacks["fpr"], weights)
        for grid in (*variants.values(), usual)
    ]
    aucs, samples = np.array([pair[0][0] for pair in pairs]), np.column_stack([pair[1][:, 0] for pair in pairs])
    estimates = risk.correlation_over_variants(numbers, aucs, samples, rng)
    return rows(STUDY, {"dataset": job.wildcards.dataset, "sets": sets}, estimates)


def _rng(job, *names) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "settings", *names)


if __name__ == "__main__":
    run(main, globals())
