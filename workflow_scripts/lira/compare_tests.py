"""Compare the one-sided post-processed test with the best one, record by record (unequal variances, Section 4.2.2).

python workflow_scripts/lira/compare_tests.py --input wine.nc --output variances.parquet \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "fpr": [0.1, 0.01], "replicates": 200}'
"""

from collections.abc import Iterator

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.statistics.bootstrap import mean_interval
from memaudit.studies.lira.unequal_variances import Tests, compare_tests
from memaudit.workflow.job import run

MARGIN = 0.01


def main(job):
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    rng = seeds.generator(job.params.seed, "lira", job.wildcards.dataset, "variances")
    rows = []
    for fpr in job.params.fpr:
        tests = compare_tests(grid.signal.values.astype(float), grid.design.values, fpr)
        keys = {"dataset": job.wildcards.dataset, "models": grid.sizes["model"], "fpr": fpr}
        rows += _rows(tests, keys, job.params.replicates, rng, grid.unit.values)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


def _rows(tests: Tests, keys: dict, replicates: int, rng: np.random.Generator, units: np.ndarray) -> Iterator[dict]:
    shares = {
        "members score lower": tests.gap < 0,
        "IN is wider": tests.ratio > 1,
        f"one-sided test loses over {MARGIN:g}": tests.best - tests.one_sided > MARGIN,
        "sigma_in / sigma_out": tests.ratio,
        "TPR one-sided": tests.one_sided,
        "TPR best": tests.best,
    }
    nulls = {
        "members score lower": 0.5,
        "sigma_in / sigma_out": 1.0,
        "TPR one-sided": keys["fpr"],
        "TPR best": keys["fpr"],
    }
    for metric, values in shares.items():
        low, high = mean_interval(values.astype(float), replicates, rng, units)
        yield tidy.row(
            "lira",
            keys,
            metric,
            values.mean(),
            unit="ratio" if "sigma" in metric else "fraction",
            low=low,
            high=high,
            n=values.size,
            method=f"Gaussian fits, bootstrap over records, {replicates} replicates",
            null=nulls.get(metric, tidy.NAN),
        )


if __name__ == "__main__":
    run(main, globals())
