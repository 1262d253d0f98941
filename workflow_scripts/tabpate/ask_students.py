"""Predict the test records by PATE students, the model with each released context, and without privacy.

python workflow_scripts/tabpate/ask_students.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json contexts=0.nc --output students.nc \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "repeats": 2, "synthetic": [],
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}}'

Contexts of synthesizers are given as codes, `synthetic=...`, in the order of the param `synthetic`.
Output: `answers` (release, record, class) logits, or (release, record) predictions, NaN for records that a repeat does
not test on; -inf for a class that a context lacks. `agreement`: share of the labels of a
context equal to those of the model with the private records as context; for number targets, one minus the RMSE over the
public range.
"""

import numpy as np
import xarray as xr

from memaudit import seeds
from memaudit.io import read_grid, read_table, write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import asker
from memaudit.privacy.record_discretization import restored
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.workflow.job import run, several
from memaudit.workflow.progress_bar import steps


def main(job):
    files, wanted = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    model = load(files.model, job.threads, table.public.schema())
    model.limits.check(
        f"{files.model}, data set {job.wildcards.dataset}", len(table.x), table.x.shape[1], table.classes
    )
    ask = asker(model, table.classes, job.resources.get("forward_mb", MEMORY))
    role = [table.roles(wanted.roles, wanted.seed, repeat) for repeat in range(wanted.repeats)]
    grids = [read_grid(path) for path in several(files.contexts)]
    contexts = [
        *_private(table, role),
        *(context for grid in grids for context in _released(grid)),
        *_synthetic(table, files.get("synthetic", []), wanted),
    ]
    answers = np.stack([_answer(table, role, context, ask) for context in steps(contexts, "students")])
    grid = xr.Dataset(
        {"answers": (("release", "record", "class")[: answers.ndim], answers)},
        {"record": table.records["id"].to_numpy(dtype=str)},
    )
    for name in ("arm", "epsilon", "repeat", "asked", "answered"):
        grid[name] = ("release", np.array([context[name] for context in contexts]))
    grid["agreement"] = ("release", np.array([_agreement(table, role, context, ask) for context in contexts]))
    grid = grid.set_coords(["arm", "epsilon", "repeat"])
    write_grid(grid.assign_attrs(mode=model.mode, **{"ledger": grids[0].ledger} if grids else {}), job.output[0])
    return {"seed": wanted.seed, "device": device(), "dtype": "float32"}


def _private(table, role):
    """Contexts without privacy: all private records, and those that are private for PromptPATE."""
    for repeat, of in enumerate(role):
        for condition, held_out in (("non_private", False), ("non_private_shared", True)):
            private = table.private(of, held_out)
            facts = {"arm": condition, "epsilon": np.inf, "repeat": repeat, "asked": 0, "answered": 0}
            yield facts | {"x": private.x, "y": private.y}


def _released(grid):
    for place in range(grid.sizes["release"]):
        one = grid.isel(release=place)
        kept = ~np.isnan(one.y.values)
        facts = {name: one[name].item() for name in ("arm", "epsilon", "repeat", "asked", "answered")}
        yield facts | {"x": one.x.values[kept].astype(np.float32), "y": one.y.values[kept]}


def _synthetic(table, files, wanted):
    """Contexts of synthesizers; the column `seed` of their codes is the repeat."""
    for path, (condition, epsilon, settings) in zip(several(files), wanted.synthetic, strict=True):
        for repeat, codes in read_table(path).groupby("seed"):
            rng = seeds.generator(
                wanted.seed, "tabpate", table.public.dataset, "restored", condition, epsilon, int(repeat)
            )
            x, y = restored(codes.drop(columns="seed"), table.public, settings["bins"], rng)
            facts = {"arm": condition, "epsilon": epsilon, "repeat": int(repeat), "asked": 0, "answered": len(x)}
            yield facts | {"x": x, "y": y}


def _agreement(table, role, context, ask) -> float:
    """Share of the labels of a context that the model predicts with the private records as context; see the module."""
    if not np.isfinite(context["epsilon"]) or not len(context["y"]):
        return np.nan
    private = table.private(role[context["repeat"]], held_out=False)
    predicted = ask([(private.x, private.y)], context["x"])[0]
    if table.classes:
        return float((predicted.argmax(1) == context["y"]).mean())
    lower, upper = table.public.target.bounds
    return float(1 - np.sqrt(np.mean((predicted - context["y"]) ** 2)) / (upper - lower))


def _answer(table, role, context, ask) -> np.ndarray:
    """Logits of the test records, (record, class), or predictions (record,).

    A context of one class makes a student that predicts this class, an empty one a student that predicts the first
    class, or the middle of the public range of a number target.
    """
    tested = table.tested(role[context["repeat"]])
    x, y = context["x"], context["y"].astype(np.int64 if table.classes else np.float64)
    if table.classes is None:
        logits = np.full(len(table.x), np.nan, dtype=np.float32)
        logits[tested] = ask([(x, y)], table.x[tested])[0] if len(y) > 1 else sum(table.public.target.bounds) / 2
        return logits
    logits = np.full((len(table.x), table.classes), np.nan, dtype=np.float32)
    if len(np.unique(y)) > 1:
        logits[tested] = ask([(x, y)], table.x[tested])[0]
    else:
        logits[tested] = np.where(np.arange(table.classes) == (y[0] if len(y) else 0), 0, -np.inf)
    return logits


if __name__ == "__main__":
    run(main, globals())
