"""Query one shard of an arm's shadow contexts for records: the logits of every class, or densities.

python workflow_scripts/attacks/query_contexts.py --input records=records.parquet schema=schema.json design=main.nc \
    model=model.json --output 0.nc --wildcards '{"dataset": "wine", "arm": "main", "shard": "0"}' \
    --params '{"seed": 1, "sets": 512, "shard": 128, "layer": 0.1, "code": "by hand"}'

Conditions (arms) may share drawn contexts: the first `sets` of each variant are queried. Arms with a `layer` take
`ranks` too, the members by vulnerability score. Each part is kept when it is finished: a killed job resumes.
"""

from typing import NamedTuple

import numpy as np
import torch

from memaudit.attacks.mitigations import bagged, coarsened, mean_probability, mixture
from memaudit.common import seeds
from memaudit.common.io import read_table, write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device
from memaudit.statistics.vulnerable_layer import layer_size
from memaudit.studies.attacks.shadow_contexts import Contexts, open_contexts
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

PART = 4  # contexts between checkpoints


def main(job, scratch):
    files, params = job.input, job.params
    contexts = open_contexts(files.records, files.schema, files.design, files.model, job.threads, params.sets)
    first = int(job.wildcards.shard) * params.shard
    rows = np.arange(first, min(first + params.shard, contexts.drawn.sizes["model"]))
    layers = _layers(job, contexts)
    memory = job.resources.get("forward_mb", MEMORY)
    parts = [
        scratch.part(f"{part[0]:06d}", lambda part=part: _logits(contexts, part, layers, params.seed, memory))
        for part in steps(np.array_split(rows, -(-rows.size // PART)), "shadow contexts", unit=f"x{PART}")
    ]
    drawn = contexts.drawn.isel(model=rows)
    counts = drawn.counts.values.copy()
    for name in ("dropped", "random"):
        counts[np.ix_(drawn.layer.values == name, layers.left_out.get(name, []))] = 0
    grid = drawn.drop_vars(["asked", "columns"]).assign(counts=(("model", "record"), counts))
    answers = np.concatenate(parts)
    if contexts.predicts_numbers:
        density, prediction = np.moveaxis(answers, -1, 0)
        grid["log_density"], grid["prediction"] = ((("model", "record"), part) for part in (density, prediction))
    else:
        grid["logits"] = (("model", "record", "class"), answers)
    passes = int(drawn.bags.sum())
    print(f"{job.wildcards.dataset}, {job.wildcards.arm}: {passes} contexts queried", flush=True)
    mode = contexts.model(int(rows[0])).mode
    write_grid(grid.assign_attrs(arm=job.wildcards.arm, mode=mode, forward_passes=passes), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


class Layers(NamedTuple):
    """left_out: places of records that a layer's contexts lack; coarse: (record, feature), vulnerable ones coarse."""

    left_out: dict[str, np.ndarray]
    coarse: torch.Tensor | None


def _layers(job, contexts: Contexts) -> Layers:
    """The most vulnerable members, and as many others at random, if a variant of the arm has a layer."""
    if not contexts.drawn.layer.values.astype(bool).any():
        return Layers({}, None)
    ranks = read_table(job.input.ranks).set_index("id")["rank"]
    vulnerable = np.argsort(ranks.reindex(contexts.drawn.record.values).fillna(np.inf).to_numpy(), kind="stable")
    members = int(contexts.drawn.member.sum())
    size = layer_size(job.params.layer, members)
    others = seeds.generator(job.params.seed, "attacks", job.wildcards.dataset, "random layer")
    left_out = {"dropped": vulnerable[:size], "random": others.permutation(vulnerable[size:members])[:size]}
    numeric = np.array([column["type"] in ("numeric", "date") for column in contexts.schema["columns"]])
    coarse = contexts.x.clone()
    coarse[vulnerable[:size]] = coarsened(coarse[vulnerable[:size]], coarse[~contexts.drawn.member.values], numeric)
    return Layers(left_out, coarse)


def _logits(contexts: Contexts, rows: np.ndarray, layers: Layers, seed: int, memory: int) -> np.ndarray:
    """(row, record, class) float32; NaN for records that a row does not query.

    Of regressors (row, record, 2) float64: log density of the true number, and prediction.
    """
    queried = contexts.drawn.asked.values[rows]
    kind = (2, np.float64) if contexts.predicts_numbers else (contexts.classes, np.float32)
    logits = np.full((rows.size, queried.shape[1], kind[0]), np.nan, dtype=kind[1])
    for number, row in enumerate(rows):
        logits[number, queried[number]] = _answer(contexts, int(row), layers, seed, memory)
    return logits


def _answer(contexts: Contexts, row: int, layers: Layers, seed: int, memory: int) -> torch.Tensor:
    drawn = contexts.drawn
    layer, bags = str(drawn.layer.values[row]), int(drawn.bags.values[row])
    context = contexts.rows(row)
    context = context[~np.isin(context, layers.left_out.get(layer, []))]
    values = layers.coarse if layer == "coarsened" else None
    asked = drawn.asked.values[row]
    queries, truth = contexts.x[asked], contexts.y[asked]

    def query(part: np.ndarray) -> torch.Tensor:
        if contexts.predicts_numbers:
            return contexts.densities(row, queries, truth, memory, context=part, values=values)
        return contexts.query(row, queries, memory, context=part, values=values)

    if bags == 1:
        return query(context)
    order = seeds.generator(seed, "attacks", drawn.dataset, "bags", int(drawn.set[row])).permutation(context.size)
    return bagged(query, context, bags, order, mixture if contexts.predicts_numbers else mean_probability)


if __name__ == "__main__":
    run(resumable(main), globals())
