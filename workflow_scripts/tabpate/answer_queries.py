"""Answer the test records themselves, noisily: by teachers at query time, and by networks trained with DP-SGD.

python workflow_scripts/tabpate/answer_queries.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "shard": 100, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "releases": [["query_time", 1.0, 0]],
        "arms": {"query_time": {"method": "query-time", "held_out": false, "settings": {"teachers": 10}}}}'

Neither releases a context. Output as of tabpate_ask_students.py. The noise has no seed: made again, answers differ.
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
        scratch.part(f"{arm} {epsilon} {repeat}", lambda at=(arm, epsilon, repeat): _answers(table, at, ask, wanted))
        for arm, epsilon, repeat in steps(here, "releases")
    ]
    arms, epsilons, repeats = zip(*here, strict=True)
    grid = xr.Dataset(
        {"answers": (("release", "record", "class")[: answers[0].ndim + 1], np.stack(answers))},
        {
            "record": table.records["id"].to_numpy(dtype=str),
            "arm": ("release", list(arms)),
            "epsilon": ("release", list(epsilons)),
            "repeat": ("release", list(repeats)),
        },
    )
    # A query each, and an answer: what the budget buys here.
    asked = np.array([len(table.tested(table.roles(wanted.roles, wanted.seed, repeat))) for repeat in repeats])
    grid["asked"] = grid["answered"] = ("release", asked)
    write_grid(grid.assign_attrs(mode=model.mode, ledger=NO_LEDGER), job.output[0])
    return {"seed": wanted.seed, "device": device(), "dtype": "float32"}


def _answers(table, at, ask, wanted) -> np.ndarray:
    arm, epsilon, repeat = at
    entry, budget = wanted.arms[arm], Budget(epsilon, wanted.delta)
    role = table.roles(wanted.roles, wanted.seed, repeat)
    private, tested = table.private(role, entry["held_out"]), table.tested(role)
    # The seed is of a network's first weights alone.
    seed = seeds.integer(wanted.seed, "tabpate", table.public.dataset, arm, epsilon, repeat)
    found = answered(entry, private, budget, table.x[tested], ask, seed)
    answers = np.full((len(table.x), *found.shape[1:]), np.nan, dtype=np.float32)
    answers[tested] = found
    return answers


if __name__ == "__main__":
    run(resumable(main), globals())
