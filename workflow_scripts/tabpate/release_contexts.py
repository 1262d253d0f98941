"""Release private contexts for each condition, budget and repeat, by the methods that release a context.

python workflow_scripts/tabpate/release_contexts.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "shard": 100, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null},
        "releases": [["private", 1.0, 0]],
        "arms": {"private": {"method": "tabpate", "held_out": false, "settings": {"queries": 100, "teachers": 10}}}}'

The noise has no seed: contexts of two runs differ. Each finished context is kept, and a killed job continues.
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
from memaudit.privacy.release_methods import NO_LEDGER, released
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    model = load(files.model, job.threads, table.public.schema())
    teachers = len(table.x) // max([2, *(entry["settings"].get("teachers", 0) for entry in params.arms.values())])
    model.limits.check(f"{files.model}, data set {job.wildcards.dataset}", teachers, table.x.shape[1], table.classes)
    predict = predictor(model, table.classes, job.resources.get("forward_mb", MEMORY))
    first = int(job.wildcards.shard) * params.shard
    here = params.releases[first : first + params.shard]
    parts = [
        scratch.part(" ".join(map(str, release)), lambda release=release: _released(table, release, predict, params))
        for release in steps(here, "releases")
    ]
    write_grid(_grid(here, parts).assign_attrs(mode=model.mode, ledger=NO_LEDGER), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def _released(table, release, predict, params) -> np.ndarray:
    """A context and its targets (row, feature + 1); the last row has the numbers of processed and answered queries."""
    condition, epsilon, repeat = release
    entry = params.arms[condition]
    role = table.roles(params.roles, params.seed, repeat)
    rng = seeds.generator(params.seed, "tabpate", table.public.dataset, "queries", condition, epsilon, repeat)
    budget = Budget(epsilon, params.delta)
    context = released(entry, table.private(role, params.roles, entry["held_out"]), budget, predict, rng)
    counts = np.full(table.x.shape[1] + 1, np.nan)
    counts[:2] = context.queried, context.answered
    return np.vstack([np.column_stack([context.x, context.y]), counts])


def _grid(releases, parts) -> xr.Dataset:
    """Contexts of all releases, padded with NaN rows to the same size."""
    rows = max(len(part) for part in parts) - 1
    values = np.full((len(parts), rows, parts[0].shape[1]), np.nan)
    for place, part in enumerate(parts):
        values[place, : len(part) - 1] = part[:-1]
    conditions, epsilons, repeats = zip(*releases, strict=True)
    grid = xr.Dataset(
        {"x": (("release", "row", "feature"), values[..., :-1]), "y": (("release", "row"), values[..., -1])},
        {
            "arm": ("release", list(conditions)),
            "epsilon": ("release", list(epsilons)),
            "repeat": ("release", list(repeats)),
        },
    )
    for place, name in enumerate(("asked", "answered")):
        grid[name] = ("release", np.array([int(part[-1, place]) for part in parts]))
    return grid


if __name__ == "__main__":
    run(resumable(main), globals())
