"""Draw the numbered splits of one data set: members, matched non-members, context rows, and shuffled labels.

python workflow_scripts/iclmem/draw_splits.py --input records=records.parquet \
    --output splits=splits.parquet checks=splits.checks.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "splits": 5, "queries": [50], "context": [60],
        "limits": {"tvd": 0.05, "ks": 0.05, "wasserstein": 0.05, "p_value": 0.001}}'

Members and non-members of each split are compared at every number of queries (ICLMEM, Table 6). A split that exceeds a
limit is drawn again.
"""

import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_columns, read_table, write_table
from memaudit.common.private_files import keep_private
from memaudit.data.matched_splits import Sizes, add_labels, draw_split, matched_targets
from memaudit.statistics.split_balance import UNITS, compare_targets, violations
from memaudit.workflow.job import run

DRAWS = 50  # most draws of one split


def main(job):
    keep_private(job.output.splits)
    columns = [column for column in ("id", "group", "target") if column in read_columns(job.input.records)]
    records = read_table(job.input.records, columns)
    try:
        drawn = [accepted_split(records, number, job) for number in range(job.params.splits)]
    except AuditError as error:
        raise AuditError(f"data set {job.wildcards.dataset}: {error}") from None
    splits, rows = zip(*drawn, strict=True)
    checks = tidy.frame([row for of_split in rows for row in of_split])
    print(checks[["setting", "metric", "estimate"]].to_string(index=False))
    write_table(pd.concat(splits, ignore_index=True), job.output.splits)
    write_table(checks, job.output.checks)
    return {"seed": job.params.seed}


def accepted_split(records, number, job):
    """A split within the limits, with its labels, and its statistics as tidy rows."""
    params, dataset = job.params, job.wildcards.dataset
    sizes = Sizes(params.queries, params.context, params.placebos)
    for draw in range(1, DRAWS + 1):
        rng = seeds.generator(params.seed, "iclmem", dataset, "split", number, draw)
        split = draw_split(records, sizes, rng)
        rows = {queries: balance_rows(records, split, queries, number, draw, dataset) for queries in sizes.queries}
        faults = [
            f"{fault} with {queries} queries"
            for queries, balance in rows.items()
            for fault in violations(balance, dict(params.limits))
        ]
        if not faults:
            labelled = add_labels(split, records["target"], sizes, rng)
            return labelled.assign(split=number), [row for balance in rows.values() for row in balance]
    raise AuditError(
        f"split {number}: {'; '.join(faults)}, in the last of {DRAWS} draws; raise datasets/{dataset}/limits and say "
        "why, or request other numbers of queries in `iclmem`"
    )


def balance_rows(records, split, queries, number, draw, dataset):
    """Tidy rows of the statistics that compare members with non-members."""
    keys = {"dataset": dataset, "split": number, "queries": queries}
    balance = compare_targets(*matched_targets(split, records["target"], queries))
    rows = [tidy.row("iclmem", keys, name, value, unit=UNITS[name], n=2 * queries) for name, value in balance.items()]
    return [*rows, tidy.row("iclmem", keys, "draws", draw, unit="count", n=2 * queries)]


if __name__ == "__main__":
    run(main, globals())
