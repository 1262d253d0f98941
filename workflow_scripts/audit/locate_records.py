"""Locate each record in the user's table: hash its rows again, since ids are keyed hashes of the content.

python workflow_scripts/audit/locate_records.py --input table=raw.parquet facts=raw.json key=id.key \
    --output rows.parquet --params '{"policy": {"task": "classification", "target": "target", "drop": ["row"]}}'

The intake writes the number of each row into the column `row`. Of equal rows the first one counts.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from memaudit.common.io import read_json, read_table, write_table
from memaudit.common.private_files import keep_private
from memaudit.data.deduplication import deduplicate, policy_of
from memaudit.data.record_ids import read_key
from memaudit.workflow.job import run


def main(job):
    keep_private(job.output[0])
    policy = policy_of(read_json(job.input.facts), job.params.policy)
    with TemporaryDirectory(dir=Path(job.output[0]).parent, prefix=".rows-") as folder:
        every = Path(folder, "records.parquet")
        deduplicate(job.input.table, every, read_key(job.input.key), policy, "table")
        ids = read_table(every, columns=["id"])["id"]
    rows = read_table(job.input.table, columns=["row"])["row"]
    write_table(pd.DataFrame({"id": ids, "row": rows}), job.output[0])
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    run(main, globals())
