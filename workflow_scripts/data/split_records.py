"""Draw members and non-members of one data set, stratified by its target; stop later jobs where they are not balanced.

python workflow_scripts/data/split_records.py --input records=records.parquet schema=schema.json \
    --output split=main.parquet checks=main.checks.parquet --wildcards '{"dataset": "wine", "split": "main"}' \
    --params '{"settings": {"members": 0.8, "nonmembers": 0.2}, "limits": {"tvd": 0.05, "ks": 0.05, "p_value": 0.001},
        "seed": 0}'

A split that shares a record between its sides, or exceeds a limit, is not kept.
"""

from pathlib import Path

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_columns, read_json, read_table, write_table
from memaudit.common.private_files import keep_private
from memaudit.common.seeds import generator
from memaudit.data.member_splits import split_records
from memaudit.data.split_contents import read_contents
from memaudit.statistics.split_balance import balance_rows, violations
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output.split)
    dataset, name, seed = job.wildcards.dataset, job.wildcards.split, job.params.seed
    columns = [column for column in ("id", "group", "target") if column in read_columns(job.input.records)]
    records = read_table(job.input.records, columns=columns)
    try:
        split = split_records(records, job.params.settings, generator(seed, "data", dataset, "split", name))
    except AuditError as error:
        raise AuditError(f"data set {dataset}, split {name}: {error}") from None
    write_table(split, job.output.split)
    print(split["side"].value_counts().to_string())
    _check(job, generator(seed, "data", dataset, "checks", name))


def _check(job, rng):
    """Write how far the sides differ. Raises AuditError, and removes the split, where they differ too much."""
    dataset, name = job.wildcards.dataset, job.wildcards.split
    contents = read_contents(job.input.records, job.output.split, read_json(job.input.schema), rng)
    rows = balance_rows(contents, {"dataset": dataset, "split": name}, rng)
    table = tidy.frame(rows)
    print(table[["metric", "estimate", "low", "high", "n"]].to_string(index=False))
    if broken := violations(rows, dict(job.params.limits)):
        Path(job.output.split).unlink()
        raise AuditError(
            f"data set {dataset}, split {name}: {'; '.join(broken)}: draw another split (more records, another "
            "seed), or raise `limits` of the data set and give the reason"
        )
    write_table(table, job.output.checks)


if __name__ == "__main__":
    run(main, globals())
