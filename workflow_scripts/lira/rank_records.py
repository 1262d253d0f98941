"""Would the same people be named again? Agreement of exposure ranks between halves of the models; single-record tests.

python workflow_scripts/lira/rank_records.py --input grid.nc --output reliability.parquet \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "sizes": [16, 32], "splits": 50}'
"""

from memaudit import seeds, tidy
from memaudit.io import read_grid, write_table
from memaudit.statistics.rank_tests import detected_records
from memaudit.statistics.split_half_agreement import Agreement, agreement_by_models
from memaudit.workflow.job import run


def main(job):
    dataset = job.wildcards.dataset
    grid = read_grid(job.input[0])
    grid = grid.isel(record=grid.member.values)
    signals, design = grid.signal.values.astype(float), grid.design.values
    rng = seeds.generator(job.params.seed, "lira", dataset, "reliability")
    rows = []
    for agreement in agreement_by_models(signals, design, job.params.sizes, rng, job.params.splits):
        rows += _agreement_rows(agreement, {"dataset": dataset, "models": agreement.models}, design.shape[1])
    for size in job.params.sizes:
        shuffled = design[rng.permutation(size)]
        share, null = (detected_records(signals[:size], rows_).mean() for rows_ in (design[:size], shuffled))
        rows.append(
            tidy.row(
                "lira",
                {"dataset": dataset, "models": size},
                "records_detected",
                share,
                n=design.shape[1],
                method="Mann-Whitney IN against OUT, Benjamini-Hochberg at .05; null: one permuted design",
                null=null,
            )
        )
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


def _agreement_rows(agreement: Agreement, keys: dict, records: int) -> list[dict]:
    method = "random halves of the models; null: permuted design"
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
    whole = tidy.row(
        "lira", keys, "spearman_brown", agreement.extrapolated, n=records, method="extrapolated to all models"
    )
    return [row, whole]


if __name__ == "__main__":
    run(main, globals())
