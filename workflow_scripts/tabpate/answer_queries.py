"""Answer the test records by private methods without a context: PATE teachers at query time, networks of DP-SGD.

python workflow_scripts/tabpate/answer_queries.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "shard": 100, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "releases": [["query_time", 1.0, 0]],
        "arms": {"query_time": {"method": "query-time", "held_out": false, "settings": {"teachers": 10}}}}'

Output as of ask_students.py. The noise has no seed: answers of two runs differ.
"""

import numpy as np
import xarray as xr

from memaudit import seeds
from memaudit.io import write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.accounting import Budget
from memaudit.privacy.pate_teachers import asker
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import NO_LEDGER
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, wanted = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    model = load(files.model, job.threads, table.public.schema())
    ask = asker(model, table.classes, job.resources.get("forward_mb", MEMORY))
    first = int(job.wildcards.shard) * wanted.shard
    here = wanted.releases[first : first + wanted.shard]
    answers = [
        scratch.part(f"{name} {epsilon} {repeat}", lambda at=(name, epsilon, repeat): _answers(table, at, ask, wanted))
        for name, epsilon, repeat in steps(here, "releases")
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
    queried = np.array([len(table.tested(table.roles(wanted.roles, wanted.seed, repeat))) for repeat in repeats])
    grid["asked"] = grid["answered"] = ("release", queried)
    write_grid(grid.assign_attrs(mode=model.mode, ledger=NO_LEDGER), job.output[0])
    return {"seed": wanted.seed, "device": device(), "dtype": "float32"}


def _answers(table, at, ask, wanted) -> np.ndarray:
    condition, epsilon, repeat = at
    entry, budget = wanted.arms[condition], Budget(epsilon, wanted.delta)
    role = table.roles(wanted.roles, wanted.seed, repeat)
    private, tested = table.private(role, entry["held_out"]), table.tested(role)
    # The seed determines the initial weights of a network alone.
    seed = seeds.integer(wanted.seed, "tabpate", table.public.dataset, condition, epsilon, repeat)
    predicted = answered(entry, private, budget, table.x[tested], ask, seed)
    answers = np.full((len(table.x), *predicted.shape[1:]), np.nan, dtype=np.float32)
    answers[tested] = predicted
    return answers


if __name__ == "__main__":
    run(resumable(main), globals())
