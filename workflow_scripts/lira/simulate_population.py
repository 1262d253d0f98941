"""Finite-population bias without a model: shadow models are means of Gaussian records (Section 6.2).

python workflow_scripts/lira/simulate_population.py \
    --output tidy=simulation.parquet records=simulation_records.parquet \
    --params '{"seed": 1, "simulation": {"repeats": 4, "models": 2048, "population": 1000, "dimensions": 500,
        "sizes": [500], "draws": ["fixed_size"]}}'
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.data import membership_matrices
from memaudit.statistics import bootstrap
from memaudit.statistics.finite_population import Simulation, correction, simulate
from memaudit.workflow.job import run

SIDES = ("out", "in")


def main(job):
    setting, rows, records = job.params.simulation, [], []
    for draw, size in steps(list(product(setting["draws"], setting["sizes"])), "populations"):
        results = []
        for repeat in range(setting["repeats"]):
            rng = seeds.generator(job.params.seed, "lira", "simulation", draw, size, repeat)
            results.append(simulate(_membership(draw, size, setting, rng), size, rng, dimensions=setting["dimensions"]))
        for side in SIDES:
            keys = {"draw": draw, "size": size, "population": setting["population"], "side": side}
            rows += _ratios(results, side, keys, setting["models"])
            records.append(_per_record(results[0], side, keys))
        print(f"{draw}, N = {size}: done", flush=True)
    write_table(tidy.frame(rows), job.output.tidy)
    write_table(pd.concat(records, ignore_index=True), job.output.records)
    return {"seed": job.params.seed}


def _membership(draw: str, size: int, setting: dict, rng: np.random.Generator) -> np.ndarray:
    if draw == "bernoulli":
        return membership_matrices.bernoulli(
            setting["models"], setting["population"], rng, size / setting["population"]
        )
    return membership_matrices.fixed_size(setting["models"], setting["population"], size, rng)


def _ratios(results: list[Simulation], side: str, keys: dict, models: int) -> Iterator[dict]:
    """Mean over records of empirical over analytic sigma, before and after correction."""
    factors = {
        "ratio_before": 1.0,
        "ratio_after_paper": correction(keys["size"], keys["population"], "paper", side),
        "ratio_after_exact": correction(keys["size"], keys["population"], "exact", side),
    }
    for metric, factor in factors.items():
        means = np.array([result.ratio(side, factor).mean() for result in results])
        low, high = bootstrap.t_interval(means)
        yield tidy.row(
            "lira",
            {"simulation": "gaussian_mean", "models": models, **keys},
            metric,
            means.mean(),
            unit="ratio",
            low=low,
            high=high,
            n=means.size,
            method="Student's t over populations",
            null=1.0,
        )


def _per_record(result: Simulation, side: str, keys: dict) -> pd.DataFrame:
    factor = correction(keys["size"], keys["population"], "exact", side)
    return pd.DataFrame(
        {
            **keys,
            "fraction": keys["size"] / keys["population"],
            "norm": result.norm,
            "empirical": result.empirical[side],
            "corrected": result.empirical[side] / np.sqrt(factor),
            "analytic": result.analytic[side],
            "before": result.ratio(side),
            "after": result.ratio(side, factor),
            "factor": factor,
        }
    )


if __name__ == "__main__":
    run(main, globals())
