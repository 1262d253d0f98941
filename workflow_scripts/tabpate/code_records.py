"""Write the private records of every repeat as categorical codes for each epsilon, the input of the synthesizers.

python workflow_scripts/tabpate/code_records.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key --output codes=codes.parquet bins=bins.json \
    --wildcards '{"dataset": "wine", "synthesizer": "mst"}' --params '{"seed": 1, "repeats": 2, "epsilons": [1.0],
        "delta": 1e-5, "roles": {"test": 0.25, "held_out": 0.3, "max_records": null},
        "arm": {"held_out": false, "settings": {"bins": 16, "bins_share": 0.1, "columns": 6}}}'

The codes are as private as the records; a column that an epsilon does not model is empty there (`by_epsilon` of the arm
has settings of each). `bins`, by epsilon and repeat: the released edges of the bins, the number of codes of each
column, and the epsilon that the bins leave to the synthesizer.
"""

import pandas as pd

from memaudit.common.io import write_json, write_table
from memaudit.privacy.accounting import Budget
from memaudit.privacy.noisy_bins import remaining
from memaudit.privacy.record_discretization import coded, counts, released_edges
from memaudit.privacy.release_methods import settings_at
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run


def main(job):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    samples, bins = [], {}
    for epsilon in params.epsilons:
        settings = settings_at(params.arm, epsilon)
        columns = settings["columns"]
        rho, left = remaining(Budget(epsilon, params.delta), settings["bins_share"])
        for repeat in range(params.repeats):
            role = table.roles(params.roles, params.seed, repeat)
            private = table.private(role, params.roles, params.arm["held_out"])
            edges = released_edges(private, rho, settings["bins"], columns)
            samples.append(coded(private, edges, columns).assign(epsilon=epsilon, seed=repeat))
            of_sample = {"edges": edges, "counts": counts(table.public, edges, columns), "epsilon": left.epsilon}
            bins.setdefault(str(epsilon), {})[str(repeat)] = of_sample
    write_table(pd.concat(samples, ignore_index=True), job.output.codes)
    write_json(bins, job.output.bins)
    return {"seed": params.seed}


if __name__ == "__main__":
    run(main, globals())
