"""Fit estimators on the contexts of `main` of one table, and query them about the same records: the logits of classes.

python workflow_scripts/attacks/fit_families.py --input records=records.parquet schema=schema.json design=main.nc \
    --output families.nc --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "sets": 24, "models": {"forest": {"family": "estimator", "task": "classification",
        "mode": "raw", "version": null, "options": {}, "licence": "BSD-3-Clause", "path": null, "hub": null,
        "estimator": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 100}}}}'

The shadow contexts are the first of the usual ones. An estimator has no weights to fetch: `models` has its entry in the
catalogue. One process fits all of them, since to start costs as much as to fit the fast ones. Each part is kept when it
is finished: a killed job resumes.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.written_folder import made_estimator
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

PART = 4  # contexts between checkpoints


def main(job, scratch):
    files, params = job.input, job.params
    answers = {}
    with TemporaryDirectory() as folder:
        for name, entry in params.models.items():
            card = made_estimator(Path(folder), name, entry)
            contexts = open_contexts(files.records, files.schema, files.design, str(card), job.threads, params.sets)
            rows = contexts.first(params.sets)
            parts = np.array_split(rows, -(-rows.size // PART))
            of_parts = [
                scratch.part(f"{name}-{part[0]:06d}", lambda part=part, of=contexts: _logits(of, part))
                for part in steps(parts, name, unit=f"x{PART}")
            ]
            answers[name] = np.concatenate(of_parts)
    grid = contexts.drawn.isel(model=rows).drop_vars(["asked", "columns"])
    dims = ("family", "model", "record", "class")
    grid = grid.assign(logits=xr.Variable(dims, np.stack(list(answers.values()))))
    print(f"{job.wildcards.dataset}: {', '.join(answers)} fitted on {rows.size} contexts", flush=True)
    write_grid(grid.assign_coords(family=list(answers)), job.output[0])
    return {"seed": params.seed, "device": "cpu", "dtype": "float64"}


def _logits(contexts: Contexts, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """(row, record, class) of these shadow contexts; NaN for records that a row does not query."""
    queried = contexts.drawn.asked.values[rows]
    logits = np.full((rows.size, queried.shape[1], contexts.classes), np.nan, dtype=np.float32)
    for number, row in enumerate(rows):
        logits[number, queried[number]] = contexts.query(int(row), contexts.x[queried[number]], MEMORY)
    return logits


if __name__ == "__main__":
    run(resumable(main), globals())
