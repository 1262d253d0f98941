"""Draw members and non-members of one data set, stratified by its target.

python workflow_scripts/data/split_records.py --input records.parquet --output half.parquet \
    --wildcards '{"dataset": "wine", "split": "main"}' \
    --params '{"settings": {"members": 0.8, "nonmembers": 0.2}, "seed": 0}'
"""

from memaudit.common.errors import AuditError
from memaudit.common.io import read_columns, read_table, write_table
from memaudit.common.seeds import generator
from memaudit.data.member_splits import split_records
from memaudit.data.record_ids import keep_private
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output[0])
    dataset, name = job.wildcards.dataset, job.wildcards.split
    columns = [column for column in ("id", "group", "target") if column in read_columns(job.input[0])]
    records = read_table(job.input[0], columns=columns)
    try:
        split = split_records(records, job.params.settings, generator(job.params.seed, "data", dataset, "split", name))
    except AuditError as error:
        raise AuditError(f"data set {dataset}, split {name}: {error}") from None
    write_table(split, job.output[0])
    print(split["side"].value_counts().to_string())


if __name__ == "__main__":
    run(main, globals())
