"""Fine-tune shadow models on random halves of the pairs of one split, and probe them at the named epochs.

python workflow_scripts/iclmem/probe_shadows.py --input records=records.parquet schema=schema.json \
    splits=splits.parquet model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "arm": "slow", "shard": "0"}' \
    --params '{"seed": 1, "candidates": 5, "replicates": 1, "free_text": "refuse",
        "manipulations": [{"name": "baseline", "category": "baseline", "steps": []}],
        "ground_truth": {"models": 16, "models_per_job": 16, "targets": 21, "controls": 7},
        "arm": {"model": "tabicl-small", "learning_rate": 1e-3, "queries": 50, "context": 60, "labels": "normal",
            "epochs": [1, 10], "pairs": "fixed", "joint": false, "adapter": null, "private": null, "placebo": false,
            "copies": null, "label_smoothing": null, "planted": false}}'

The split is the first of the study, the condition one of its `arms`. Labels `canaries` are chosen by the base model. A
killed job resumes from the last saved state of its shadow model.
"""

import shutil

import numpy as np
import xarray as xr

from memaudit.common.io import write_grid
from memaudit.common.private_files import keep_private
from memaudit.common.progress_bar import steps
from memaudit.models.model_folder import device
from memaudit.studies.iclmem.model_probing import axes, open_study
from memaudit.studies.iclmem.shadow_runs import open_pool, robust, tune_shadow
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

SPLIT = 0  # whose pairs the shadow models share
AXES = {
    "probe": ("model", "epoch", "target", "signal"),
    "in_context": ("model", "stage", "target", "signal"),
    "member": ("model", "epoch", "target"),
    "assigned": ("model", "target"),
}


def main(job, scratch):
    params, sizes = job.params, job.params.ground_truth
    keep_private(scratch.folder)
    (table,), model, prober = open_study(job, [job.wildcards.dataset])
    condition = dict(params.arm)
    split = table.split(SPLIT, condition["labels"])
    pool = open_pool(split, condition, sizes["targets"], sizes["controls"], prober, model)
    first = int(job.wildcards.shard) * sizes["models_per_job"]
    numbers = range(first, min(first + sizes["models_per_job"], sizes["models"]))

    def tuned(shadow):
        folder = scratch.folder / f"shadow-{shadow}"
        record = tune_shadow(
            model, pool, shadow, prober, folder, lambda name, of: scratch.part(f"shadow {shadow} {name}", of)
        )
        shutil.rmtree(folder, ignore_errors=True)
        return record

    parts = [scratch.part(f"shadow {at}", lambda at=at: tuned(at)) for at in steps(numbers, "shadow models")]
    base = robust(prober.probe(model, pool.split, pool.rows), prober, pool.split)
    write_grid(grid(job, parts, pool, base, numbers), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def grid(job, parts, pool, base, numbers):
    """The records of all shadow models as one grid, with id, label, pair and control of every target."""
    epochs = list(pool.condition["epochs"])
    variables = {name: (axis, np.stack([part[name] for part in parts])) for name, axis in AXES.items()}
    variables["base_probe"] = ("target", "signal"), base
    split, rows = pool.split, pool.rows
    facts = {"id": split.facts.id.to_numpy(str)[rows], "label": split.y[rows].double().numpy()}
    facts |= {"pair": pool.pair, "control": pool.control}
    coordinates = {name: ("target", values) for name, values in facts.items()}
    coordinates |= {"model": list(numbers), "epoch": epochs, "stage": [0, *epochs], "signal": axes(())["signal"]}
    attrs = {"dataset": split.dataset, "arm": job.wildcards.arm, "classes": split.classes, "split": split.number}
    return xr.Dataset(variables, coordinates, attrs | {"trained": pool.condition["queries"]})


if __name__ == "__main__":
    run(resumable(main), globals())
