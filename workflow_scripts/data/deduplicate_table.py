"""Type a raw table's columns, give each record its id, and handle duplicates and conflicting labels.

python workflow_scripts/data/deduplicate_table.py --input table=raw.parquet facts=raw.json key=id.key \
    --output records=records.parquet schema=schema.json counts=dedup.parquet \
    --wildcards '{"dataset": "wine"}' --params '{"policy": {"task": "classification"}}'
"""

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.common.private_files import keep_private
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.record_ids import read_key
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output.records)
    dataset, facts, settings = job.wildcards.dataset, read_json(job.input.facts), dict(job.params.policy)
    target = settings.pop("target", None) or facts["target"]
    if target is None:
        raise AuditError(f"data set {dataset}: its source names no target; set `target` of its entry in the catalogue")
    # Declared types have precedence over the source's; the target's type follows from the task.
    types = {**facts["types"], **settings.pop("types", {})}
    types.pop(target, None)
    try:
        policy = Policy(target=target, types=types, typed=facts["typed"], **settings)
        key = read_key(job.input.key)
        schema, rows = deduplicate(job.input.table, job.output.records, key, policy, dataset, job.threads)
    except AuditError as error:
        raise AuditError(f"data set {dataset} ({facts['origin']}): {error}") from None
    write_json(schema, job.output.schema)
    write_table(tidy.frame(rows), job.output.counts)
    print(", ".join(f"{row['metric']} {row['estimate']:.0f}" for row in rows))


if __name__ == "__main__":
    run(main, globals())
