"""Compare vulnerability ranks between halves of the shadow models, test single records, and compare record-wise tests.

python workflow_scripts/lira/rank_records.py --input grid.nc \
    --output reliability=reliability.parquet variances=variances.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "sizes": [16, 32], "fpr": [0.1, 0.01], "replicates": 200}'

Output `variances`: record by record, the one-sided post-processed test and the most powerful one, which differ where
the IN and OUT scores have unequal variances (Section 4.2.2).
"""

from collections.abc import Iterator

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.bootstrap import mean_interval
from memaudit.statistics.rank_tests import detected_records
from memaudit.statistics.scorable_redraws import redraw
from memaudit.statistics.split_half_agreement import Agreement, agreement_by_models
from memaudit.studies.lira.unequal_variances import Tests, compare_tests
from memaudit.workflow.job import run

NULL_DRAWS = 5
MARGIN = 0.01


def main(job):
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    write_table(tidy.frame(_reliability(grid, job)), job.output.reliability)
    write_table(tidy.frame(_tests(grid, job)), job.output.variances)
    return {"seed": job.params.seed}


def _reliability(grid, job) -> list[dict]:
    dataset = job.wildcards.dataset
    signals, membership = grid.signal.values.astype(float), grid.design.values
    rng = seeds.generator(job.params.seed, "lira", dataset, "reliability")
    rows = []
    for agreement in agreement_by_models(signals, membership, job.params.sizes, rng, job.params.replicates):
        rows += _agreement_rows(agreement, {"dataset": dataset, "models": agreement.models}, membership.shape[1])
    for size in job.params.sizes:
        inside, scheme = membership[:size], Scheme.of(grid.attrs).of_first(size)
        redraws = [redraw(scheme, inside, grid.unit.values, rng) for _ in range(NULL_DRAWS)]
        share, *nulls = (detected_records(signals[:size], of).mean() for of in (inside, *redraws))
        rows.append(
            tidy.row(
                "lira",
                {"dataset": dataset, "models": size},
                "records_detected",
                share,
                n=membership.shape[1],
                method="Mann-Whitney IN against OUT, Benjamini-Hochberg at .05; null: redrawn membership",
                null=float(np.mean(nulls)),
            )
        )
    return rows


def _agreement_rows(agreement: Agreement, keys: dict, records: int) -> list[dict]:
    method = "random halves of the models; null: independent rankings"
    row = tidy.row(
        "lira",
        keys,
        agreement.metric.replace("%", "pc"),
        agreement.estimate,
        low=agreement.low,
        high=agreement.high,
        n=records,
        method=method,
        null=agreement.null,
    )
    if agreement.metric != "spearman":
        return [row]
    whole = tidy.row("lira", keys, "spearman_brown", agreement.whole, n=records, method="extrapolated to all models")
    return [row, whole]


def _tests(grid, job) -> list[dict]:
    rng = seeds.generator(job.params.seed, "lira", job.wildcards.dataset, "variances")
    rows = []
    for fpr in job.params.fpr:
        tests = compare_tests(grid.signal.values.astype(float), grid.design.values, fpr)
        keys = {"dataset": job.wildcards.dataset, "models": grid.sizes["model"], "fpr": fpr}
        rows += _test_rows(tests, keys, job.params.replicates, rng, grid.unit.values)
    return rows


def _test_rows(
    tests: Tests, keys: dict, replicates: int, rng: np.random.Generator, units: np.ndarray
) -> Iterator[dict]:
    # Values of the records, their range's upper end, and what no effect gives.
    quantities = {
        "members score lower": (tests.gap < 0, 1, 0.5),
        "IN is wider": (tests.ratio > 1, 1, tidy.NAN),
        f"one-sided test loses over {MARGIN:g}": (tests.best - tests.one_sided > MARGIN, 1, tidy.NAN),
        "sigma_in / sigma_out": (tests.ratio, np.inf, 1.0),
        "TPR one-sided": (tests.one_sided, 1, keys["fpr"]),
        "TPR best": (tests.best, 1, keys["fpr"]),
    }
    for metric, (values, most, null) in quantities.items():
        low, high = mean_interval(values.astype(float), replicates, rng, units, 0, most)
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
            null=null,
        )


if __name__ == "__main__":
    run(main, globals())
