"""Write the private records of every repeat as categorical codes, the input of the synthesizers.

python workflow_scripts/tabpate/code_records.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key --output codes=codes.parquet counts=counts.json \
    --wildcards '{"dataset": "wine", "arm": "mst"}' --params '{"seed": 1, "repeats": 2, "held_out": false,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "settings": {"bins": 5, "columns": 6}}'

The codes are as private as the records.
"""

import pandas as pd

from memaudit.common.io import write_json, write_table
from memaudit.privacy.record_discretization import coded, counts
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run


def main(job):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    bins, columns = params.settings["bins"], params.settings["columns"]
    samples = []
    for repeat in range(params.repeats):
        private = table.private(table.roles(params.roles, params.seed, repeat), params.roles, params.held_out)
        samples.append(coded(private.x, private.y, private.units, table.public, bins, columns).assign(seed=repeat))
    write_table(pd.concat(samples, ignore_index=True), job.output.codes)
    write_json(counts(table.public, bins, columns), job.output.counts)
    return {"seed": params.seed}


if __name__ == "__main__":
    run(main, globals())
