"""Ask one shard of shadow sets about noisy copies of the targets: the share of them that keep the predicted class.

python workflow_scripts/attacks_query_perturbed.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "shard": "0"}' \
    --params '{"seed": 1, "code": "by hand", "perturbation": {"targets": 20, "sets": 64, "shard": 64,
        "counts": [10, 50], "scales": [0.1, 0.5], "count": 50, "scale": 0.1}}'

The shadow sets are the first of the arm's first variant. Targets and copies are the queries of one question for each;
each part is kept when it is finished: a killed job goes on.
"""

import numpy as np
import torch

from memaudit import seeds
from memaudit.attacks import perturb
from memaudit.contexts import Contexts, open_contexts
from memaudit.io import write_grid
from memaudit.job import run
from memaudit.models.batching import MEMORY
from memaudit.models.load import device
from memaudit.scratch import resumable
from memaudit.steps import steps

PART = 8  # shadow sets between two visits to the disk


def main(job, scratch):
    files, wanted = job.input, job.params.perturbation
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    design = contexts.design
    first = int(job.wildcards.shard) * wanted["shard"]
    rows, targets = contexts.first(wanted["sets"])[first : first + wanted["shard"]], contexts.targets(wanted["targets"])
    asked = perturb.settings(*(wanted[key] for key in ("counts", "scales", "count", "scale")))
    queries = _queries(contexts, targets, asked, job.params.seed)

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{part[0]:06d}", lambda part=part: _stability(contexts, part, queries, asked, memory))
        for part in steps(np.array_split(rows, -(-rows.size // PART)), "shadow sets", unit=f"x{PART}")
    ]
    print(f"{job.wildcards.dataset}: {rows.size} contexts asked, {queries[..., 0].numel()} queries each", flush=True)
    grid = (design.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["stable"] = (("model", "record", "setting"), np.concatenate(parts))
    scales, counts = zip(*asked, strict=True)
    grid = grid.assign_coords(scale=("setting", list(scales)), count=("setting", list(counts)))
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(design.attrs, mode=mode, signal="share of copies that keep the answer"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _queries(contexts: Contexts, targets: np.ndarray, asked: list[perturb.Setting], seed: int) -> torch.Tensor:
    """(target, 1 + copy, feature), the same for every shadow set; the adversary owns the non-members."""
    x, design = contexts.x.numpy(), contexts.design
    redrawn = np.array([column["type"] in ("categorical", "text") for column in contexts.schema["columns"]])
    reference = perturb.Reference.of(x[~design.member.values], redrawn)
    streams = [seeds.generator(seed, "attacks", design.dataset, "perturbed", design.record.values[i]) for i in targets]
    made = [perturb.queries(x[i], reference, asked, rng) for i, rng in zip(targets, streams, strict=True)]
    return torch.from_numpy(np.stack(made))


def _stability(contexts: Contexts, rows: np.ndarray, queries: torch.Tensor, asked: list, memory: int) -> np.ndarray:
    """(row, target, setting) float32."""
    predicted = []
    for row in map(int, rows):
        logits = contexts.ask(row, queries.flatten(0, 1), memory)
        predicted.append(logits.argmax(-1).reshape(queries.shape[:2]).numpy())
    return perturb.stability(np.stack(predicted), asked)


if __name__ == "__main__":
    run(resumable(main), globals())
