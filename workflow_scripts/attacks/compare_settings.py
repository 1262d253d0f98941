"""Leakage and accuracy by setting: context size, columns, duplicates, model and mode, population.

python workflow_scripts/attacks/compare_settings.py --input main=main.nc settings=settings.nc deployed=deployed.nc \
    --output settings.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39},
        "arms": {"main": {"model": "tabicl-small", "mode": "raw"}, "settings": {"model": "tabicl-small", "mode": "raw"},
            "deployed": {"model": "tabicl-small", "mode": "as_deployed"}}}'

LiRA on the members in each variant's contexts. More shadow contexts make a stronger attack, so the usual contexts are
attacked with each number of contexts that a variant has, key `sets`. Key `records`: "all" that are in the variant's
contexts; "common" to all context sizes, whose populations are nested; "copied", the targets that occur several times.
"""

from collections.abc import Iterator

import numpy as np

from memaudit.attacks.score_matrices import attackable
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.attacked_records import STUDY, compared, judged
from memaudit.statistics.rank_correlation import correlation_over_variants
from memaudit.studies.attacks.setting_attacks import (
    auc_by_columns,
    first,
    lira_on,
    membership_variants,
    shared_records,
    utility,
    variant_keys,
    varies_only,
)
from memaudit.workflow.job import run


def main(job):
    sets = job.params.attacks["sets"]
    variants = {arm: membership_variants(job.input.get(arm), sets) for arm in job.params.arms}
    grids = {(arm, name): grid for arm, named in variants.items() for name, grid in named}
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
        results += _judged("main", "usual", first(usual, sets), attackable(usual), "all", job)
    settings = {name: grid for (arm, name), grid in grids.items() if arm == "settings"}
    results += _on_same_records(settings, usual, "context", "common", job)
    results += _on_same_records(settings, usual, "copies", "copied", job)
    results += _confounds(grids, job)
    results += _features(settings, usual, job)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _keys(arm: str, name: str, grid, records: str, job) -> dict:
    of_arm = {"dataset": job.wildcards.dataset, "arm": arm, **job.params.arms[arm]}
    return of_arm | variant_keys(name, grid) | {"records": records}


def _judged(arm: str, name: str, grid, records: np.ndarray, chosen: str, job) -> Iterator[dict]:
    keys = _keys(arm, name, grid, chosen, job)
    return judged(lira_on(grid, records), keys, job.params.attacks, _rng(job, *keys.values()))


def _utility(arm: str, name: str, grid, job) -> Iterator[dict]:
    keys = _keys(arm, name, grid, "non-members", job)
    return rows(STUDY, keys, utility(grid, _rng(job, *keys.values()), job.params.attacks["replicates"]))


def _on_same_records(settings: dict, usual, key: str, chosen: str, job) -> Iterator[dict]:
    """Attacks on the records that all variants of one kind share, in these variants and in the usual contexts."""
    kind = {name: grid for name, grid in settings.items() if varies_only(name, key)}
    shared = shared_records(kind, usual, key)
    for name, grid in kind.items():
        yield from _judged("settings", name, grid, shared, chosen, job)
    for sets in sorted({grid.sizes["model"] for grid in kind.values()}):
        yield from _judged("main", "usual", first(usual, sets), shared, chosen, job)


def _confounds(grids: dict, job) -> Iterator[dict]:
    """Differences from independently drawn contexts, and from other models or modes on the same contexts."""
    for (arm, name), grid in grids.items():
        if varies_only(name, "population"):
            yield from _difference(f"{name} - usual", grid, grids["main", "usual"], job)
        earlier = next(other for other, its in grids if its == name)
        if earlier != arm:
            yield from _difference(f"{arm} - {earlier}", grid, grids[earlier, name], job)


def _difference(between: str, changed, usual, job) -> Iterator[dict]:
    sets = min(changed.sizes["model"], usual.sizes["model"])
    keys = {"dataset": job.wildcards.dataset, "variant": between, "sets": sets, "records": "all"}
    both = (lira_on(grid, attackable(grid)) for grid in (changed, usual))
    return compared(*both, keys, job.params.attacks, _rng(job, "difference", between))


def _features(settings: dict, usual, job) -> Iterator[dict]:
    """Correlation of the AUC with the number of columns, on the same records and as many contexts of each variant."""
    variants = {name: grid for name, grid in settings.items() if varies_only(name, "features", "order")}
    if not variants:
        return iter(())
    numbers, aucs, sets = auc_by_columns(variants, usual)
    correlation = correlation_over_variants(numbers, aucs, _rng(job, "features"))
    return rows(STUDY, {"dataset": job.wildcards.dataset, "sets": sets}, [correlation])


def _rng(job, *names) -> np.random.Generator:
    return seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "settings", *names)


if __name__ == "__main__":
    run(main, globals())
