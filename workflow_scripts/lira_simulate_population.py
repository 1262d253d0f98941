"""Finite-population bias without a model: shadow models are means of Gaussian records (Section 6.2).

python workflow_scripts/lira_simulate_population.py \
    --output tidy=simulation.parquet records=simulation_records.parquet \
    --params '{"seed": 1, "simulation": {"models": 2048, "population": 1000, "dimensions": 500,
        "sizes": [500], "draws": ["fixed_size"]}}'
"""

from itertools import product

import numpy as np
import pandas as pd

from memaudit import seeds, tidy
from memaudit.data import designs
from memaudit.evaluation import bootstrap
from memaudit.evaluation.finite_population import Simulation, correction, simulate
from memaudit.io import write_table
from memaudit.job import run

REPLICATES = 1000


def main(job):
    setting, rows, records = job.params.simulation, [], []
    for draw, size in product(setting["draws"], setting["sizes"]):
        rng = seeds.generator(job.params.seed, "lira", "simulation", draw, size)
        result = simulate(_design(draw, size, setting, rng), size, rng, dimensions=setting["dimensions"])
        for side in ("out", "in"):
            keys = {"draw": draw, "size": size, "population": setting["population"], "side": side}
            rows += _ratios(result, side, keys, setting["models"], rng)
            records.append(_per_record(result, side, keys))
        print(f"{draw}, N = {size}: done", flush=True)
    write_table(tidy.frame(rows), job.output.tidy)
    write_table(pd.concat(records, ignore_index=True), job.output.records)
    return {"seed": job.params.seed}


def _design(draw: str, size: int, setting: dict, rng: np.random.Generator) -> np.ndarray:
    if draw == "bernoulli":
        return designs.bernoulli(setting["models"], setting["population"], rng, size / setting["population"])
    return designs.fixed_size(setting["models"], setting["population"], size, rng)


def _ratios(result: Simulation, side: str, keys: dict, models: int, rng: np.random.Generator) -> list[dict]:
    factors = {
        "ratio_before": 1.0,
        "ratio_after_paper": correction(keys["size"], keys["population"], "paper", side),
        "ratio_after_exact": correction(keys["size"], keys["population"], "exact", side),
    }
    rows = []
    for metric, factor in factors.items():
        low, high = bootstrap.mean_interval(result.ratio(side, factor), REPLICATES, rng)
        rows.append(
            tidy.row(
                "lira",
                {"simulation": "gaussian_mean", "models": models, **keys},
                metric,
                result.ratio(side, factor).mean(),
                unit="ratio",
                low=low,
                high=high,
                n=keys["population"],
                method=f"bootstrap over records, {REPLICATES} replicates",
                null=1.0,
            )
        )
    return rows


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
