"""Check that members and non-members of a split are balanced and share no record; stop later jobs if not.

python workflow_scripts/data/validate_split.py --input records=records.parquet schema=schema.json split=main.parquet \
    --output checks=main.checks.parquet ok=main.ok --wildcards '{"dataset": "wine", "split": "main"}' \
    --params '{"limits": {"tvd": 0.05, "ks": 0.05, "p_value": 0.001}, "seed": 0}'
"""

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.common.seeds import generator
from memaudit.data.record_ids import keep_private
from memaudit.data.split_contents import read_contents
from memaudit.statistics.split_balance import balance_rows, violations
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output.checks)
    dataset, name, limits = job.wildcards.dataset, job.wildcards.split, dict(job.params.limits)
    rng = generator(job.params.seed, "data", dataset, "checks", name)
    setting = {"dataset": dataset, "split": name}
    contents = read_contents(job.input.records, job.input.split, read_json(job.input.schema), rng)
    rows = balance_rows(contents, setting, rng)
    table = tidy.frame(rows)
    print(table[["metric", "estimate", "low", "high", "n"]].to_string(index=False))
    if broken := violations(rows, limits):
        raise AuditError(
            f"data set {dataset}, split {name}: {'; '.join(broken)}: draw another split (more records, another "
            "seed), or raise `limits` of the data set and give the reason"
        )
    write_table(table, job.output.checks)
    write_json({"dataset": dataset, "split": name, "limits": limits}, job.output.ok)


if __name__ == "__main__":
    run(main, globals())
