"""Predict the test records by PATE students (the model with a released context) and by the model without privacy.

python workflow_scripts/tabpate/query_students.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json contexts=0.nc --output students.nc \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "repeats": 2, "synthetic": [],
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}}'

Contexts of synthesizers are given as codes, `synthetic=...`, in the order of the param `synthetic`.
Output: `answers`, logits (release, record, class) or predictions (release, record), NaN for records that a repeat does
not test; -inf for a class that a context lacks. `agreement`: share of the labels of a
context equal to those of the model with the private records as context; for number targets, one minus the RMSE over the
public range. Each finished student is kept, and a killed job continues.
"""

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.common.io import read_grid, read_json, read_table, write_grid
from memaudit.common.job_inputs import several
from memaudit.common.progress_bar import steps
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.record_discretization import restored
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    model = load(files.model, job.threads, table.public.schema())
    model.limits.check(
        f"{files.model}, data set {job.wildcards.dataset}", len(table.x), table.x.shape[1], table.classes
    )
    predict = predictor(model, table.classes, job.resources.get("forward_mb", MEMORY))
    roles = [table.roles(params.roles, params.seed, repeat) for repeat in range(params.repeats)]
    grids = [read_grid(path) for path in several(files.contexts)]
    contexts = [
        *_private(table, roles, params),
        *(context for grid in grids for context in _released(grid)),
        *_synthetic(table, files.get("synthetic", []), files.get("bins", []), params),
    ]
    answers = np.stack(
        [
            scratch.part(f"{place:06d}", lambda context=context: _answer(table, roles, context, predict))
            for place, context in enumerate(steps(contexts, "students"))
        ]
    )
    grid = xr.Dataset(
        {"answers": (("release", "record", "class")[: answers.ndim], answers)},
        {"record": table.records["id"].to_numpy(dtype=str)},
    )
    for name in ("arm", "epsilon", "repeat", "asked", "answered"):
        grid[name] = ("release", np.array([context[name] for context in contexts]))
    agreement = [
        scratch.part(
            f"{place:06d} agreement", lambda context=context: _agreement(table, roles, context, predict, params)
        )
        for place, context in enumerate(contexts)
    ]
    grid["agreement"] = ("release", np.array(agreement, dtype=np.float64))
    grid = grid.set_coords(["arm", "epsilon", "repeat"])
    write_grid(grid.assign_attrs(mode=model.mode, **{"ledger": grids[0].ledger} if grids else {}), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def _private(table, roles, params):
    """Contexts without privacy: all private records, and those that are private for PromptPATE."""
    for repeat, role in enumerate(roles):
        for condition, held_out in (("non_private", False), ("non_private_shared", True)):
            private = table.private(role, params.roles, held_out)
            facts = {"arm": condition, "epsilon": np.inf, "repeat": repeat, "asked": 0, "answered": 0}
            yield facts | {"x": private.x, "y": private.y}


def _released(grid):
    """Contexts of the releases of a shard, without the padding."""
    for place in range(grid.sizes["release"]):
        one = grid.isel(release=place)
        kept = ~np.isnan(one.y.values)
        facts = {name: one[name].item() for name in ("arm", "epsilon", "repeat", "asked", "answered")}
        yield facts | {"x": one.x.values[kept].astype(np.float32), "y": one.y.values[kept]}


def _synthetic(table, files, bins, params):
    """Contexts of synthesizers; the column `seed` of their codes is the repeat."""
    triples = zip(several(files), several(bins), params.synthetic, strict=True)
    for path, of_bins, (condition, epsilon, _) in triples:
        edges = {seed: one["edges"] for seed, one in read_json(of_bins)[str(float(epsilon))].items()}
        for repeat, codes in read_table(path).groupby("seed"):
            rng = seeds.generator(
                params.seed, "tabpate", table.public.dataset, "restored", condition, epsilon, int(repeat)
            )
            x, y = restored(codes.drop(columns="seed"), table.public, edges[str(repeat)], rng)
            facts = {"arm": condition, "epsilon": epsilon, "repeat": int(repeat), "asked": 0, "answered": len(x)}
            yield facts | {"x": x, "y": y}


def _agreement(table, roles, context, predict, params) -> float:
    """Share of the labels of a context that the model predicts with the private records as context; see the module.

    Each context has a pass of its own: one for all of a repeat would change last bits of the answers with the releases.
    """
    if not np.isfinite(context["epsilon"]) or not len(context["y"]):
        return np.nan
    private = table.private(roles[context["repeat"]], params.roles, held_out=False)
    predicted = predict([(private.x, private.y)], context["x"])[0]
    if table.classes:
        return float((predicted.argmax(1) == context["y"]).mean())
    lower, upper = table.public.target.bounds
    return float(1 - np.sqrt(np.mean((predicted - context["y"]) ** 2)) / (upper - lower))


def _answer(table, roles, context, predict) -> np.ndarray:
    """Logits of the test records, (record, class), or predictions (record,)."""
    tested = table.tested(roles[context["repeat"]])
    answers = table.student_answers((context["x"], context["y"]), table.x[tested], predict)
    return table.on_all_records(answers, tested)


if __name__ == "__main__":
    run(resumable(main), globals())
