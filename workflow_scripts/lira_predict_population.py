"""Predict the population's TPR from small supersets, with and without the correction, and measure it.

python workflow_scripts/lira_predict_population.py --input population=population.nc superset0.nc superset1.nc \
    --output population.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "fpr": [0.1], "context": 20, "replicates": 200}'

Both grids have contexts of the same size N. A small superset holds N+ = 2N records or so; the population grid draws
from all members, N/N+ <= .05, and shows what a target meets whose context is a fresh draw.
"""

from collections.abc import Iterator

import numpy as np

from memaudit import seeds, tidy
from memaudit.evaluation import bootstrap
from memaudit.evaluation.finite_population import Gap, correction, gap_statistics, one_sided_test, predicted_tpr
from memaudit.io import read_grid, write_table
from memaudit.job import run


def main(job):
    params, dataset = job.params, job.wildcards.dataset
    population = read_grid(job.input.population)
    supersets = []
    for path in job.input[1:]:
        grid = read_grid(path)
        at = population.get_index("record").get_indexer(grid.record.values)
        gap = gap_statistics(grid.signal.values.astype(float), grid.design.values)
        supersets.append((at, gap, int(grid.population)))
    rng = seeds.generator(params.seed, "lira", dataset, "population check")
    rows = []
    for fpr in params.fpr:
        keys = {"dataset": dataset, "context": params.context, "fpr": fpr}
        rows += _predicted(supersets, keys, params.replicates, rng)
        rows += _measured(population, supersets, keys, params.replicates, rng)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": params.seed}


def _predicted(
    supersets: list[tuple[np.ndarray, Gap, int]], keys: dict, replicates: int, rng: np.random.Generator
) -> Iterator[dict]:
    for corrected in ("false", "true"):
        tpr = []
        for _, gap, size in supersets:
            factors = [correction(keys["context"], size, "exact", side) for side in ("out", "in")]
            tpr.append(predicted_tpr(gap, keys["fpr"], *(factors if corrected == "true" else [])))
        tpr = np.concatenate(tpr)
        low, high = bootstrap.mean_interval(tpr, replicates, rng)
        yield tidy.row(
            "lira",
            keys | {"corrected": corrected},
            "predicted_tpr",
            tpr.mean(),
            low=low,
            high=high,
            n=tpr.size,
            method=f"bootstrap over records, {replicates} replicates",
            null=keys["fpr"],
        )


def _measured(population, supersets, keys: dict, replicates: int, rng: np.random.Generator) -> Iterator[dict]:
    direction = np.zeros(population.sizes["record"])
    for at, gap, _ in supersets:
        direction[at] = np.sign(gap.delta)
    design = population.design.values
    hits = one_sided_test(population.signal.values.astype(float), design, direction, keys["fpr"])
    for metric, cells in (("measured_tpr", design), ("measured_fpr", ~design)):
        low, high = bootstrap.share_interval(hits, cells, replicates, rng)
        yield tidy.row(
            "lira",
            keys | {"corrected": "measured"},
            metric,
            hits[cells].mean(),
            low=low,
            high=high,
            n=int(cells.sum()),
            method=f"two-way bootstrap, {replicates} replicates",
            null=keys["fpr"],
        )


if __name__ == "__main__":
    run(main, globals())
