"""What shapes the leak: context size, columns, copies, model and mode, another population; and what accuracy goes with.

python workflow_scripts/attacks/compare_settings.py --input main=main.nc settings=settings.nc deployed=deployed.nc \
    --output settings.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39},
        "arms": {"main": {"model": "tabicl-small", "mode": "raw"}, "settings": {"model": "tabicl-small", "mode": "raw"},
            "deployed": {"model": "tabicl-small", "mode": "as_deployed"}}}'

LiRA of the members in each variant's contexts. More shadow sets make a better attack: the usual contexts are attacked
with each number of sets that a variant has, key `sets`. Key `records`: "all" that stand in the variant's contexts;
"common" to all context sizes, whose populations are nested; "copied", the targets that stand there several times.
"""

from collections.abc import Iterator

import numpy as np

from memaudit import seeds, tidy
from memaudit.attacks.score_matrices import attackable, confidence, gather, labels, variant
from memaudit.attacks.signals import correctness
from memaudit.errors import AuditError
from memaudit.io import write_table
from memaudit.statistics import record_vulnerability, roc
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.context_attacks import STUDY, Attacked, compared, judged, parsed, varies_only
from memaudit.statistics.model_utility import judge_utility
from memaudit.statistics.threat_models import ratio
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps

ELSEWHERE = {"shares", "bags", "layer"}  # other questions than membership, or mitigations


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
    results += _features(settings, usual, job)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _variants(paths, job) -> Iterator[tuple[str, object]]:
    """Variants of one arm that are asked about membership, at most the first `sets` shadow sets of each."""
    if not paths:
        return  # the table does not have the arm
    grid = gather(paths)
    for name in dict.fromkeys(grid.variant.values):
        if not parsed(name).keys() & ELSEWHERE:
            yield name, _first(variant(grid, name), job.params.attacks["sets"])


def _first(grid, sets: int):
    return grid.isel(model=slice(0, sets))


def _lira(grid, records: np.ndarray) -> Attacked:
    grid = grid.sel(record=records)
    return Attacked(records, ratio(confidence(grid)), grid.design.values, grid.unit.values)


def _columns(name: str, grid) -> int:
    """A table may have fewer columns than a variant keeps."""
    return min(int(parsed(name).get("features", grid.sizes["feature"])), grid.sizes["feature"])


def _keys(arm: str, name: str, grid, records: str, job) -> dict:
    context, varied = grid.design.values.sum(1).mean(), parsed(name)
    keys = {"dataset": job.wildcards.dataset, "arm": arm, **job.params.arms[arm], "variant": name}
    keys |= {"context": f"{context:.4g}", "features": _columns(name, grid)}
    keys |= {key: varied.get(key, usual) for key, usual in (("order", 0), ("copies", 1), ("population", 0))}
    return keys | {"sets": grid.sizes["model"], "records": records}


def _judged(arm: str, name: str, grid, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    keys = _keys(arm, name, grid, chosen, job)
    return judged(_lira(grid, records), keys, job.params.attacks, _rng(job, *keys.values()))


def _utility(arm: str, name: str, grid, job) -> Iterator[dict]:
    others, keys = grid.isel(record=~grid.member.values), _keys(arm, name, grid, "non-members", job)
    correct = correctness(others.logits.values, labels(others)) > 0
    options = {"groups": others.unit.values, "replicates": job.params.attacks["replicates"]}
    return rows(STUDY, keys, judge_utility(correct, others.label.values, rng=_rng(job, *keys.values()), **options))


def _on_same_records(settings: dict, usual, key: str, chosen: str, job) -> Iterator[dict]:
    """Attacks on the records that all variants of one kind share, and on them in the usual contexts."""
    kind = {name: grid for name, grid in settings.items() if varies_only(name, key)}
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
        if varies_only(name, "population"):
            yield from _difference(f"{name} - usual", grid, grids["main", "usual"], job)
        earlier = next(other for other, its in grids if its == name)
        if earlier != arm:
            yield from _difference(f"{arm} - {earlier}", grid, grids[earlier, name], job)


def _difference(between: str, changed, usual, job) -> Iterator[dict]:
    sets = min(changed.sizes["model"], usual.sizes["model"])
    keys = {"dataset": job.wildcards.dataset, "variant": between, "sets": sets, "records": "all"}
    both = (_lira(grid, attackable(grid)) for grid in (changed, usual))
    return compared(*both, keys, job.params.attacks, _rng(job, "difference", between))


def _features(settings: dict, usual, job) -> Iterator[dict]:
    """Does the AUC grow with the number of columns? On the same records and as many sets of each variant."""
    variants = {name: grid for name, grid in settings.items() if varies_only(name, "features", "order")}
    if not variants:
        return iter(())
    variants = {name: grid for name, grid in variants.items() if _columns(name, grid) < usual.sizes["feature"]}
    variants["usual"] = usual
    sets = min(grid.sizes["model"] for grid in variants.values())
    attacks = [_lira(_first(grid, sets), attackable(usual)) for grid in variants.values()]
    aucs = np.array([roc.auc(attack.scores(), attack.design) for attack in attacks])
    numbers = [_columns(name, grid) for name, grid in variants.items()]
    found = record_vulnerability.correlation_over_variants(numbers, aucs, _rng(job, "features"))
    return rows(STUDY, {"dataset": job.wildcards.dataset, "sets": sets}, [found])


def _rng(job, *names) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "settings", *names)


if __name__ == "__main__":
    run(main, globals())
