"""Query one shard of shadow contexts about the members with every candidate value of a sensitive column: logits.

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
from memaudit.io import write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable

PART = 8  # shadow contexts between checkpoints


def main(job, scratch):
    files, wanted, dataset = job.input, job.params.inference, job.wildcards.dataset
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    design, x = contexts.design, contexts.x.numpy()
    sets = contexts.first(wanted["sets"])
    first = int(job.wildcards.shard) * job.params.shard
    rows = sets[first : first + job.params.shard]
    shown = design.columns.values[sets].all(0)
    column = attribute_inference.place(contexts.schema, shown, dataset, wanted["sensitive"][dataset])
    member = design.member.values
    tried = attribute_inference.candidates(contexts.schema["columns"][column], x[~member, column], wanted["levels"])
    targets = np.flatnonzero(member & ~np.isnan(x[:, column]))
    queries = torch.from_numpy(attribute_inference.queries(x[targets], column, tried.value))

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{part[0]:06d}", lambda part=part: _logits(contexts, part, queries, memory))
        for part in steps(np.array_split(rows, -(-rows.size // PART)), "shadow sets", unit=f"x{PART}")
    ]
    print(f"{dataset}: {rows.size} contexts asked, {queries[..., 0].numel()} queries each", flush=True)
    grid = (design.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["logits"] = (("model", "record", "level", "class"), np.concatenate(parts))
    grid["truth"] = ("record", tried.truth(x[targets, column]))
    of_level = {name: ("level", getattr(tried, name)) for name in ("value", "bin", "prior")}
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_coords(of_level).assign_attrs(design.attrs, mode=mode, signal="logits"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _logits(contexts: Contexts, rows: np.ndarray, queries: torch.Tensor, memory: int) -> np.ndarray:
    """(row, record, level, class) float32, -inf for a class that the context lacks."""
    said = [contexts.ask(row, queries.flatten(0, 1), memory).reshape(*queries.shape[:2], -1) for row in map(int, rows)]
    return torch.stack(said).numpy()


if __name__ == "__main__":
    run(resumable(main), globals())
