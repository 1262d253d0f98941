"""Type a raw table's columns, give each record its id, and handle duplicates and conflicting labels.

python workflow_scripts/data/deduplicate_table.py --input table=raw.parquet facts=raw.json key=id.key \
    --output records=records.parquet schema=schema.json counts=dedup.parquet \
    --wildcards '{"dataset": "wine"}' --params '{"policy": {"task": "classification"}}'
"""

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.common.private_files import keep_private
from memaudit.common.screen_lines import alike
from memaudit.data.deduplication import deduplicate, policy_of
from memaudit.data.record_ids import read_key
from memaudit.workflow.job import run, tell


def main(job):
    keep_private(job.output.records)
    dataset, facts = job.wildcards.dataset, read_json(job.input.facts)
    policy = policy_of(facts, job.params.policy)
    if policy.target is None:
        raise AuditError(f"data set {dataset}: its source names no target; set `target` of its entry in the catalogue")
    try:
        key = read_key(job.input.key)
        schema, rows = deduplicate(job.input.table, job.output.records, key, policy, dataset, job.threads)
    except AuditError as error:
        raise AuditError(f"data set {dataset} ({facts['origin']}): {error}") from None
    for remark, columns in (("left out", schema["left_out"]), ("read as", schema["readings"])):
        for line in alike(columns):
            print(said := f"data set {dataset}, {remark}: {line}")
            tell(f"memaudit: {said}")
    write_json(schema, job.output.schema)
    write_table(tidy.frame(rows), job.output.counts)
    print(", ".join(f"{row['metric']} {row['estimate']:.0f}" for row in rows))


if __name__ == "__main__":
    run(main, globals())
