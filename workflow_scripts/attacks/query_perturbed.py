"""Query one shard of shadow contexts for noisy copies of the targets: share that keeps the predicted class.

python workflow_scripts/attacks/query_perturbed.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "shard": "0"}' \
    --params '{"seed": 1, "code": "by hand", "perturbation": {"targets": 20, "sets": 64, "shard": 64,
        "counts": [10, 50], "scales": [0.1, 0.5], "count": 50, "scale": 0.1}}'

The shadow contexts are the first of the arm's first variant. All targets and copies are queried together, or target by
target where queries change each other's answers. Each context is kept when it is finished: a killed job resumes.
"""

import numpy as np
import torch

from memaudit.attacks import perturbation
from memaudit.common import seeds
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, settings = job.input, job.params.perturbation
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    drawn = contexts.drawn
    first = int(job.wildcards.shard) * settings["shard"]
    rows, targets = (
        contexts.first(settings["sets"])[first : first + settings["shard"]],
        contexts.targets(settings["targets"]),
    )
    noise = perturbation.settings(*(settings[key] for key in ("counts", "scales", "count", "scale")))
    queries = _queries(contexts, targets, noise, job.params.seed)

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{row:06d}", lambda row=row: _label_robustness(contexts, row, queries, noise, memory))
        for row in steps(rows.tolist(), "shadow contexts")
    ]
    print(f"{job.wildcards.dataset}: {rows.size} contexts queried, {queries[..., 0].numel()} queries each", flush=True)
    grid = (drawn.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["stable"] = (("model", "record", "setting"), np.stack(parts))
    scales, counts = zip(*noise, strict=True)
    grid = grid.assign_coords(scale=("setting", list(scales)), count=("setting", list(counts)))
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(drawn.attrs, mode=mode, signal="share of copies that keep the answer"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _queries(contexts: Contexts, targets: np.ndarray, noise: list[perturbation.Setting], seed: int) -> torch.Tensor:
    """(target, 1 + copy, feature), the same for every shadow context; the adversary owns the non-members."""
    x, drawn = contexts.x.numpy(), contexts.drawn
    redrawn = np.array([column["type"] in ("categorical", "text") for column in contexts.schema["columns"]])
    reference = perturbation.Reference.of(x[~drawn.member.values], redrawn)
    streams = [seeds.generator(seed, "attacks", drawn.dataset, "perturbed", drawn.record.values[i]) for i in targets]
    made = [perturbation.queries(x[i], reference, noise, rng) for i, rng in zip(targets, streams, strict=True)]
    return torch.from_numpy(np.stack(made))


def _label_robustness(contexts: Contexts, row: int, queries: torch.Tensor, noise: list, memory: int) -> np.ndarray:
    """(target, setting) float32."""
    together = [queries.flatten(0, 1)] if contexts.model(row).alone else queries
    logits = torch.cat([contexts.query(row, part, memory) for part in together])
    return perturbation.stability(logits.argmax(-1).reshape(queries.shape[:2]).numpy(), noise)


if __name__ == "__main__":
    run(resumable(main), globals())
