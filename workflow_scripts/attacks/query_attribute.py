"""Query one shard of shadow contexts for the members with every candidate value of a sensitive column: logits.

python workflow_scripts/attacks/query_attribute.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "shard": "0"}' \
    --params '{"seed": 1, "shard": 1024, "code": "by hand",
        "inference": {"sensitive": {"wine": "alcohol"}, "levels": 8, "sets": 64}}'

The shadow contexts are the first of the arm's first variant. Members whose sensitive value is missing are not queried.
Each part is kept when it is finished: a killed job resumes.
"""

import numpy as np
import torch

from memaudit.attacks import attribute_inference
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

PART = 8  # shadow contexts between checkpoints


def main(job, scratch):
    files, settings, dataset = job.input, job.params.inference, job.wildcards.dataset
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    drawn, x = contexts.drawn, contexts.x.numpy()
    sets = contexts.first(settings["sets"])
    first = int(job.wildcards.shard) * job.params.shard
    rows = sets[first : first + job.params.shard]
    kept = drawn.columns.values[sets].all(0)
    column = attribute_inference.place(contexts.schema, kept, dataset, settings["sensitive"][dataset])
    member = drawn.member.values
    tried = attribute_inference.candidates(contexts.schema["columns"][column], x[~member, column], settings["levels"])
    targets = np.flatnonzero(member & ~np.isnan(x[:, column]))
    queries = torch.from_numpy(attribute_inference.queries(x[targets], column, tried.value))

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{part[0]:06d}", lambda part=part: _logits(contexts, part, queries, memory))
        for part in steps(np.array_split(rows, -(-rows.size // PART)), "shadow contexts", unit=f"x{PART}")
    ]
    print(f"{dataset}: {rows.size} contexts queried, {queries[..., 0].numel()} queries each", flush=True)
    grid = (drawn.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["logits"] = (("model", "record", "level", "class"), np.concatenate(parts))
    grid["truth"] = ("record", tried.truth(x[targets, column]))
    of_level = {name: ("level", getattr(tried, name)) for name in ("value", "bin", "prior")}
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_coords(of_level).assign_attrs(drawn.attrs, mode=mode, signal="logits"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _logits(contexts: Contexts, rows: np.ndarray, queries: torch.Tensor, memory: int) -> np.ndarray:
    """(row, record, level, class) float32, -inf for a class that the context lacks."""
    every = queries.flatten(0, 1)
    logits = [contexts.query(row, every, memory).reshape(*queries.shape[:2], -1) for row in map(int, rows)]
    return torch.stack(logits).numpy()


if __name__ == "__main__":
    run(resumable(main), globals())
