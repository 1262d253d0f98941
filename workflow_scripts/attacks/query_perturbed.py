"""Query one shard of shadow contexts about noisy copies of the targets: share that keeps the predicted class.

python workflow_scripts/attacks/query_perturbed.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "shard": "0"}' \
    --params '{"seed": 1, "code": "by hand", "perturbation": {"targets": 20, "sets": 64, "shard": 64,
        "counts": [10, 50], "scales": [0.1, 0.5], "count": 50, "scale": 0.1}}'

The shadow sets are the first of the arm's first variant. Targets and copies are the queries of one question for each;
where queries change each other's answers, each target has a question of its own. Each set is kept when it is finished:
a killed job goes on.
"""

import numpy as np
import torch

from memaudit import seeds
from memaudit.attacks import perturbation
from memaudit.io import write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, wanted = job.input, job.params.perturbation
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    design = contexts.design
    first = int(job.wildcards.shard) * wanted["shard"]
    rows, targets = contexts.first(wanted["sets"])[first : first + wanted["shard"]], contexts.targets(wanted["targets"])
    asked = perturbation.settings(*(wanted[key] for key in ("counts", "scales", "count", "scale")))
    queries = _queries(contexts, targets, asked, job.params.seed)

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{row:06d}", lambda row=row: _stability(contexts, row, queries, asked, memory))
        for row in steps(rows.tolist(), "shadow sets")
    ]
    print(f"{job.wildcards.dataset}: {rows.size} contexts asked, {queries[..., 0].numel()} queries each", flush=True)
    grid = (design.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["stable"] = (("model", "record", "setting"), np.stack(parts))
    scales, counts = zip(*asked, strict=True)
    grid = grid.assign_coords(scale=("setting", list(scales)), count=("setting", list(counts)))
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(design.attrs, mode=mode, signal="share of copies that keep the answer"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _queries(contexts: Contexts, targets: np.ndarray, asked: list[perturbation.Setting], seed: int) -> torch.Tensor:
    """(target, 1 + copy, feature), the same for every shadow context; the adversary owns the non-members."""
    x, design = contexts.x.numpy(), contexts.design
    redrawn = np.array([column["type"] in ("categorical", "text") for column in contexts.schema["columns"]])
    reference = perturbation.Reference.of(x[~design.member.values], redrawn)
    streams = [seeds.generator(seed, "attacks", design.dataset, "perturbed", design.record.values[i]) for i in targets]
    made = [perturbation.queries(x[i], reference, asked, rng) for i, rng in zip(targets, streams, strict=True)]
    return torch.from_numpy(np.stack(made))


def _stability(contexts: Contexts, row: int, queries: torch.Tensor, asked: list, memory: int) -> np.ndarray:
    """(target, setting) float32."""
    together = [queries.flatten(0, 1)] if contexts.model(row).alone else queries
    logits = torch.cat([contexts.ask(row, part, memory) for part in together])
    return perturbation.stability(logits.argmax(-1).reshape(queries.shape[:2]).numpy(), asked)


if __name__ == "__main__":
    run(resumable(main), globals())
