"""Query one shard of shadow contexts for labels near the targets: of noisy copies, and on lines to the boundary.

python workflow_scripts/attacks/query_perturbed.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "shard": "0"}' \
    --params '{"seed": 1, "code": "by hand", "perturbation": {"targets": 20, "sets": 64, "shard": 64,
        "counts": [10, 50], "scales": [0.1, 0.5], "count": 50, "scale": 0.1, "directions": 5, "steps": 5}}'

The shadow contexts are the first of the arm's first variant. All targets and copies are queried together, or target by
target where queries change each other's answers. Each context is kept when it is finished: a killed job resumes.
"""

from typing import NamedTuple

import numpy as np
import torch

from memaudit.attacks import boundary_distance, perturbation
from memaudit.attacks.boundary_distance import Lines
from memaudit.common import seeds
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


class Near(NamedTuple):
    """What is queried near the targets: noisy copies (target, 1 + copy, feature), and lines to the boundary."""

    copies: torch.Tensor
    lines: Lines


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
    seed = job.params.seed
    near = Near(_queries(contexts, targets, noise, seed), _lines(contexts, targets, settings, seed))

    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{row:06d}", lambda row=row: _answers(contexts, row, near, noise, settings["steps"], memory))
        for row in steps(rows.tolist(), "shadow contexts")
    ]
    print(
        f"{job.wildcards.dataset}: {rows.size} contexts queried, {near.copies[..., 0].numel()} copies each", flush=True
    )
    answers, places = np.stack(parts), len(noise)
    grid = (drawn.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid["stable"] = (("model", "record", "setting"), answers[..., :places])
    grid["right"] = (("model", "record", "setting"), answers[..., places : 2 * places])
    grid["correct"] = (("model", "record"), answers[..., -2] > 0)
    grid["distance"] = (("model", "record"), answers[..., -1])
    scales, counts = zip(*noise, strict=True)
    grid = grid.assign_coords(scale=("setting", list(scales)), count=("setting", list(counts)))
    facts = {"directions": settings["directions"], "steps": settings["steps"]}
    facts |= {"mode": contexts.model(int(rows[0])).mode, "signal": "labels of noisy copies, distance to the boundary"}
    write_grid(grid.assign_attrs(drawn.attrs, **facts), job.output[0])
    return {"seed": seed, "device": device(), "dtype": "float32"}


def _queries(contexts: Contexts, targets: np.ndarray, noise: list[perturbation.Setting], seed: int) -> torch.Tensor:
    """(target, 1 + copy, feature), the same for every shadow context; the adversary owns the non-members."""
    x, drawn = contexts.x.numpy(), contexts.drawn
    reference = perturbation.Reference.of(x[~drawn.member.values], _redrawn(contexts))
    streams = [seeds.generator(seed, "attacks", drawn.dataset, "perturbed", drawn.record.values[i]) for i in targets]
    made = [perturbation.queries(x[i], reference, noise, rng) for i, rng in zip(targets, streams, strict=True)]
    return torch.from_numpy(np.stack(made))


def _lines(contexts: Contexts, targets: np.ndarray, settings: dict, seed: int) -> Lines:
    """Lines to the non-members, which the adversary owns, the same for every shadow context."""
    x, y, drawn = contexts.x.numpy(), contexts.y.numpy(), contexts.drawn
    owned, directions = np.flatnonzero(~drawn.member.values), settings["directions"]
    others, own, flips = [], [], []
    for target in targets:
        rng = seeds.generator(seed, "attacks", drawn.dataset, "lines", drawn.record.values[target])
        away, back = boundary_distance.ends(y[owned], y[target], directions, rng)
        others.append(x[owned[away]])
        own.append(x[owned[back]])
        flips.append(rng.random((directions, x.shape[1])))
    made = (np.stack(part) for part in (others, own, flips))
    return Lines(x[targets], y[targets], *made, _redrawn(contexts))


def _redrawn(contexts: Contexts) -> np.ndarray:
    """Which columns have no numbers between two values: categories and codes of texts."""
    return np.array([column["type"] in ("categorical", "text") for column in contexts.schema["columns"]])


def _answers(contexts: Contexts, row: int, near: Near, noise: list, steps: int, memory: int) -> np.ndarray:
    """(target, answer) float32: shares of `perturbation.stability` and `correct_copies`, correctness, distance."""
    together = contexts.model(row).alone

    def label(asked: np.ndarray) -> np.ndarray:
        parts = torch.from_numpy(asked).split(len(asked) if together else len(asked) // len(near.lines.x))
        return torch.cat([contexts.query(row, part, memory) for part in parts]).argmax(-1).numpy()

    copies = near.copies.numpy()
    predicted = label(copies.reshape(-1, copies.shape[-1])).reshape(copies.shape[:2])
    truth = near.lines.label
    shares = [perturbation.stability(predicted, noise), perturbation.correct_copies(predicted, truth, noise)]
    distance = boundary_distance.signed_distance(label, near.lines, predicted[:, 0], steps)
    right = predicted[:, 0] == truth
    return np.hstack([*shares, right[:, None], distance[:, None]]).astype(np.float32)


if __name__ == "__main__":
    run(resumable(main), globals())
