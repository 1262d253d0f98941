"""Query shadow contexts about records with every value of a hidden column, and with halves of other records.

python workflow_scripts/audit/query_candidates.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output candidates.nc --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "code": "by hand",
        "audit": {"infer": ["c0"], "threats": ["probabilities", "linkability"],
            "inference": {"sets": 32, "targets": 128}}}'

The contexts are the first of the arm `main`, the targets its first members. All tries of a context are one query. What
an adversary tells without the model (`imputed`) is fitted on the non-members. Each context is kept when it is finished.
"""

from collections.abc import Iterator

import numpy as np
import torch
import xarray as xr

from memaudit.attacks import blind_inference, candidate_records
from memaudit.attacks.candidate_records import Candidates
from memaudit.attacks.signals import confidence, loss
from memaudit.common import seeds
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

HALVES = "halves"  # name of the question which half belongs to a record
Question = tuple[str, Candidates, dict[str, np.ndarray]]  # name, tries, probabilities without the model


def main(job, scratch):
    files, settings = job.input, job.params.audit["inference"]
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads)
    targets = contexts.targets(settings["targets"])
    rows, memory = contexts.first(settings["sets"]), job.resources.get("forward_mb", MEMORY)
    questions = list(_questions(job, contexts, targets))
    tried = np.concatenate([one.records.reshape(-1, one.records.shape[-1]) for _, one, _ in questions])
    truth = contexts.y[torch.from_numpy(np.concatenate([_of_targets(one, targets) for _, one, _ in questions]))]
    parts = [
        scratch.part(f"{row:06d}", lambda row=row: _answers(contexts, row, torch.from_numpy(tried), truth, memory))
        for row in steps(rows.tolist(), "shadow contexts")
    ]
    print(f"{job.wildcards.dataset}: {rows.size} contexts queried, {len(tried)} queries each", flush=True)
    grid = (contexts.drawn.counts.isel(model=rows, record=targets) > 0).to_dataset(name="design")
    grid = grid.merge(_grid(questions, np.stack(parts), len(targets)))
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(contexts.drawn.attrs, mode=mode, signal="log probability"), job.output[0])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def _questions(job, contexts: Contexts, targets: np.ndarray) -> Iterator[Question]:
    """Each column of `infer`, then the halves if linkability is requested."""
    audit, x = job.params.audit, contexts.x.numpy().astype(np.float64)
    others, y = ~contexts.drawn.member.values, contexts.y.numpy().astype(np.float64)[:, None]
    named = [column["name"] for column in contexts.schema["columns"]]
    for name in audit["infer"]:
        place = named.index(name)
        values = candidate_records.values_of(contexts.schema["columns"][place], x[:, place])
        tries = candidate_records.with_values(x[targets], place, values)
        rest, bins = np.delete(x, place, axis=1), values.bins_of(x[others, place])
        given = {"known": np.column_stack([rest, y]), "unknown": rest}
        blind = {
            key: blind_inference.imputed(one[others], bins, one[targets], tries.bins, job.threads)
            for key, one in given.items()
        }
        yield name, tries, blind
    if "linkability" in audit["threats"]:
        rng = seeds.generator(job.params.seed, "audit", job.wildcards.dataset, HALVES)
        linked = candidate_records.halves(x.shape[1], rng)
        tries = candidate_records.joined(x[targets], contexts.drawn.unit.values[targets], linked, rng)
        more = {"known": (y[others], y[targets]), "unknown": None}
        blind = {
            key: blind_inference.linked(x[others], tries, linked, one, rng, job.threads) for key, one in more.items()
        }
        yield HALVES, tries, blind


def _of_targets(tries: Candidates, targets: np.ndarray) -> np.ndarray:
    """The target of each query."""
    return np.repeat(targets, tries.records.shape[1])


def _answers(contexts: Contexts, row: int, tried: torch.Tensor, truth: torch.Tensor, memory: int) -> torch.Tensor:
    """(query, 2): of classes the log probability of the true one, and the largest; of numbers density and error."""
    if contexts.predicts_numbers:
        found = contexts.densities(row, tried, truth, memory)
        return torch.stack([found[:, 0], found[:, 1] - truth], -1)
    logits = contexts.query(row, tried, memory).numpy()
    own = -loss(logits, truth.numpy())
    return torch.from_numpy(np.stack([own, np.log(confidence(logits))], -1))


def _grid(questions: list[Question], answers: np.ndarray, targets: int) -> xr.Dataset:
    """Answers and priors by question; fewer levels or bins than the most are padded with NaN."""
    sizes = [one.records.shape[1] for _, one, _ in questions]
    shape, most = (len(answers), len(questions), targets, max(sizes)), max(one.bins for _, one, _ in questions)
    found = np.full((2, *shape), np.nan, dtype=np.float32)
    bins, truth = np.full((len(questions), max(sizes)), -1), np.full((len(questions), targets), -1)
    priors = {key: np.full((len(questions), targets, most), np.nan) for key in ("known", "unknown")}
    first = 0
    for number, (_, tries, blind) in enumerate(questions):
        part = answers[:, first : first + targets * sizes[number]].reshape(len(answers), targets, sizes[number], 2)
        found[:, :, number, :, : sizes[number]] = np.moveaxis(part, -1, 0)
        bins[number, : sizes[number]], truth[number] = tries.bin, tries.truth
        for key, prior in blind.items():
            priors[key][number, :, : tries.bins] = prior
        first += targets * sizes[number]
    dimensions = ("model", "question", "record", "level")
    grid = xr.Dataset({"own": (dimensions, found[0]), "other": (dimensions, found[1])})
    grid["bin"], grid["truth"] = (("question", "level"), bins), (("question", "record"), truth)
    for key, prior in priors.items():
        grid[f"prior_{key}"] = (("question", "record", "bin_number"), prior)
    return grid.assign_coords(question=[name for name, _, _ in questions])


if __name__ == "__main__":
    run(resumable(main), globals())
