"""Query one shard of shadow contexts for attention: how concentrated each record's attention on context rows is.

python workflow_scripts/attacks/query_attention.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "arm": "main", "shard": "0"}' \
    --params '{"seed": 1, "code": "by hand", "attention": {"sets": 64, "shard": 64}}'

The shadow contexts are the first of the arm's first variant and of each one that changes keys, and the records all that
they query. Each context is kept
when it is finished: a killed job resumes.
"""

import numpy as np
import torch

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY, answer
from memaudit.models.model_folder import device
from memaudit.studies.attacks.attention_reader import reader
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, settings = job.input, job.params.attention
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    drawn, first = contexts.drawn, int(job.wildcards.shard) * settings["shard"]
    rows = contexts.seen_inside(settings["sets"])[first : first + settings["shard"]]
    queried = np.flatnonzero(drawn.asked.values[rows[0]])
    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{row:06d}", lambda row=row: _concentration(contexts, row, queried, memory))
        for row in steps(rows.tolist(), "shadow contexts")
    ]
    print(f"{job.wildcards.dataset}: {rows.size} contexts queried, attention of {queried.size} records", flush=True)
    grid = (drawn.counts.isel(model=rows, record=queried) > 0).to_dataset(name="design")
    grid["attention"] = (("model", "record", "statistic"), np.stack(parts))
    grid = grid.assign_coords(statistic=list(STATISTICS))
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(drawn.attrs, mode=mode, signal="concentration of attention"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _concentration(contexts: Contexts, row: int, queried: np.ndarray, memory: int) -> torch.Tensor:
    """(record, statistic) float32."""
    question = contexts.question(row, contexts.x[torch.from_numpy(queried)])
    (found,) = answer(reader(contexts.model(row), contexts.card), [question], memory)
    return found


if __name__ == "__main__":
    run(resumable(main), globals())
