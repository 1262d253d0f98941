"""Predict the population's TPR from small supersets, with and without the correction, and measure it.

python workflow_scripts/lira/predict_population.py --input population=population.nc superset0.nc superset1.nc \
    --output population.parquet --wildcards '{"dataset": "breast_cancer"}' \
    --params '{"seed": 1, "fpr": [0.1], "context": 20, "replicates": 200}'

All contexts have the same size N. A small superset holds N+ = 2N records or so; the population grid draws from all
members, N/N+ <= .05, and shows what a record meets whose companions are fresh draws.
"""

from collections.abc import Iterator

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.statistics import bootstrap
from memaudit.statistics.finite_population import correction, one_sided_test, predicted_tpr
from memaudit.statistics.record_vulnerability import gap_statistics
from memaudit.workflow.job import run


def main(job):
    params, dataset = job.params, job.wildcards.dataset
    population = read_grid(job.input.population)
    supersets = [read_grid(path) for path in job.input[1:]]
    rng = seeds.generator(params.seed, "lira", dataset, "population check")
    rows = []
    for fpr in params.fpr:
        keys = {"dataset": dataset, "context": params.context, "fpr": fpr}
        rows += _compared(population, supersets, keys, params.replicates, rng)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": params.seed}


def _compared(population, supersets, keys: dict, replicates: int, rng: np.random.Generator) -> Iterator[dict]:
    membership = population.design.values
    predicted, direction = _predicted(population, supersets, keys["context"], keys["fpr"])
    hits = one_sided_test(population.signal.values.astype(float), membership, direction, keys["fpr"])

    weights = bootstrap.two_way_weights(*membership.shape, replicates, rng, population.unit.values)
    measured = bootstrap.rate((hits & membership).T, membership.T, weights)
    common = {"n": membership.shape[1], "method": f"two-way bootstrap, {replicates} replicates", "null": keys["fpr"]}

    def row(metric: str, corrected: str, estimate: float, sample: np.ndarray) -> dict:
        low, high = bootstrap.two_way_interval(sample, estimate, weights)
        return tidy.row("lira", keys | {"corrected": corrected}, metric, estimate, low=low, high=high, **common)

    yield row("measured_tpr", "measured", hits[membership].mean(), measured)
    outside = bootstrap.rate((hits & ~membership).T, ~membership.T, weights)
    yield row("measured_fpr", "measured", hits[~membership].mean(), outside)
    for corrected, tpr in predicted.items():
        # The same replicates of the same records on both sides: the difference is paired.
        sample = weights.records @ tpr / weights.records.sum(1)
        yield row("predicted_tpr", corrected, tpr.mean(), sample)
        difference = tpr.mean() - hits[membership].mean()
        yield row("predicted_minus_measured", corrected, difference, sample - measured) | {"null": 0.0}


def _predicted(population, supersets, context: int, fpr: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """TPR that the supersets predict for each record of the population grid, and the direction of its gap there."""
    records = population.sizes["record"]
    predicted, direction = {"false": np.empty(records), "true": np.empty(records)}, np.empty(records)
    for grid in supersets:
        at = population.get_index("record").get_indexer(grid.record.values)
        signals, membership = grid.signal.values.astype(float), grid.design.values
        # The grid that checks the prediction has a small bias of its own: the ratio takes it into account.
        factors = [
            correction(context, int(grid.population), "exact", side)
            / correction(context, int(population.population), "exact", side)
            for side in ("out", "in")
        ]
        # The sign comes from one half of the models, the gap from the other: noise is not folded into a leak.
        halves = [gap_statistics(signals[start::2], membership[start::2]) for start in (0, 1)]
        ways = [(one, np.sign(other.delta)) for one, other in (halves, halves[::-1])]
        predicted["false"][at] = np.mean([predicted_tpr(gap, fpr, direction=sign) for gap, sign in ways], axis=0)
        predicted["true"][at] = np.mean([predicted_tpr(gap, fpr, *factors, sign) for gap, sign in ways], axis=0)
        direction[at] = np.sign(gap_statistics(signals, membership).delta)
    return predicted, direction


if __name__ == "__main__":
    run(main, globals())
