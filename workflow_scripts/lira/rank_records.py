"""Compare vulnerability ranks between halves of the shadow models, and test single records.

python workflow_scripts/lira/rank_records.py --input grid.nc --output reliability.parquet \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "sizes": [16, 32], "splits": 50}'
"""

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.rank_tests import detected_records
from memaudit.statistics.split_half_agreement import Agreement, agreement_by_models
from memaudit.workflow.job import run

NULL_DRAWS = 5


def main(job):
    dataset = job.wildcards.dataset
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    signals, membership = grid.signal.values.astype(float), grid.design.values
    rng = seeds.generator(job.params.seed, "lira", dataset, "reliability")
    rows = []
    for agreement in agreement_by_models(signals, membership, job.params.sizes, rng, job.params.splits):
        rows += _agreement_rows(agreement, {"dataset": dataset, "models": agreement.models}, membership.shape[1])
    for size in job.params.sizes:
        inside, scheme = membership[:size], Scheme.of(grid.attrs).of_first(size)
        redraws = [scheme.redraw(inside, grid.unit.values, rng) for _ in range(NULL_DRAWS)]
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
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


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


if __name__ == "__main__":
    run(main, globals())
