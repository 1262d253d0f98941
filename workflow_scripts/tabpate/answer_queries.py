"""Predict the test records by private methods without a context: PATE teachers at query time, DP-SGD networks.

python workflow_scripts/tabpate/answer_queries.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "shard": 100, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "releases": [["query_time", 1.0, 0]],
        "arms": {"query_time": {"method": "query-time", "held_out": false, "settings": {"teachers": 10}}}}'

The output has the form of that of query_students.py. The noise has no seed: answers of two runs differ.
"""

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.accounting import Budget
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import NO_LEDGER
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    model = load(files.model, job.threads, table.public.schema())
    predict = predictor(model, table.classes, job.resources.get("forward_mb", MEMORY))
    first = int(job.wildcards.shard) * params.shard
    here = params.releases[first : first + params.shard]
    answers = [
        scratch.part(" ".join(map(str, release)), lambda release=release: _answers(table, release, predict, params))
        for release in steps(here, "releases")
    ]
    conditions, epsilons, repeats = zip(*here, strict=True)
    grid = xr.Dataset(
        {"answers": (("release", "record", "class")[: answers[0].ndim + 1], np.stack(answers))},
        {
            "record": table.records["id"].to_numpy(dtype=str),
            "arm": ("release", list(conditions)),
            "epsilon": ("release", list(epsilons)),
            "repeat": ("release", list(repeats)),
        },
    )
    # The budget covers one answered query for each test record.
    queried = np.array([len(table.tested(table.roles(params.roles, params.seed, repeat))) for repeat in repeats])
    grid["asked"] = grid["answered"] = ("release", queried)
    write_grid(grid.assign_attrs(mode=model.mode, ledger=NO_LEDGER), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def _answers(table, release, predict, params) -> np.ndarray:
    """Answers of a release to all records, NaN where a record is not a test record: (record, class) or (record,)."""
    condition, epsilon, repeat = release
    entry, budget = params.arms[condition], Budget(epsilon, params.delta)
    role = table.roles(params.roles, params.seed, repeat)
    private, tested = table.private(role, params.roles, entry["held_out"]), table.tested(role)
    # The seed determines the initial weights of a network alone.
    seed = seeds.integer(params.seed, "tabpate", table.public.dataset, condition, epsilon, repeat)
    return table.on_all_records(answered(entry, private, budget, table.x[tested], predict, seed), tested)


if __name__ == "__main__":
    run(resumable(main), globals())
