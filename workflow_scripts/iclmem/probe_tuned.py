"""Fine-tune the models of one condition (`arm`) on a shard of the splits and probe them at the named epochs.

python workflow_scripts/iclmem/probe_tuned.py --input records=records.parquet schema=schema.json \
    splits=splits.parquet model=model.json --output 0.nc --wildcards '{"task": "wine", "arm": "slow", "shard": "0"}' \
    --params '{"seed": 1, "splits": 5, "splits_per_job": 5, "queries": 50, "context": 5, "candidates": 5,
        "replicates": 1, "free_text": "refuse", "datasets": ["wine"], "keep_checkpoints": false,
        "manipulations": [{"name": "baseline", "category": "baseline", "steps": []}],
        "arm": {"model": "tabicl-small", "learning_rate": 1e-4, "queries": 50, "context": 60, "labels": "normal",
            "epochs": [1, 10], "pairs": "fixed", "joint": false, "adapter": null, "private": null,
            "placebo": false, "copies": null, "label_smoothing": null, "planted": false}}'

A joint condition has one model for all data sets of its params; `records`, `schema` and `splits` are then given once
for each. Labels `canaries` need an input of that name: the result of the reference probe that chose them. A killed job
resumes from the last saved state of its split. With keep_checkpoints a second output holds the checkpoints.
"""

import json
import shutil
from dataclasses import asdict
from zipfile import ZipFile, ZipInfo

import numpy as np
import xarray as xr

from memaudit.common.io import replacing, write_grid
from memaudit.common.private_files import keep_private
from memaudit.common.progress_bar import steps
from memaudit.models import dp_sgd
from memaudit.models.model_folder import device
from memaudit.studies.iclmem.fine_tuning_runs import STATE, FineTuningRun, private_settings, tune, tune_privately
from memaudit.studies.iclmem.model_probing import axes, open_study
from memaudit.studies.iclmem.table_splits import SCALING
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

AXES = {
    "signals": ("epoch", "target", "manipulation", "signal"),
    "vanilla": ("stage", "target", "signal"),
    "relabelled": ("stage", "target", "signal"),
    "label_rank": ("stage", "target"),
    "member": ("epoch", "target"),
    "in_context": ("epoch", "target"),
    "diverged_at": (),
    "held_out": ("epoch",),
    "seconds_finetune": ("epoch",),
    "seconds_probe": ("epoch",),
}


def main(job, scratch):
    params, condition = job.params, dict(job.params.arm)
    keep_private(scratch.folder)
    tables, model, prober = open_study(job, params.datasets)
    first = int(job.wildcards.shard) * params.splits_per_job
    numbers = range(first, min(first + params.splits_per_job, params.splits))

    def study(number):
        splits = [table.split(number, condition["labels"]) for table in tables]
        queries = min(params.queries or condition["queries"], condition["queries"])
        rows = [split.targets(queries, params.context) for split in splits]
        return FineTuningRun(job.wildcards.task, condition, splits, rows, prober)

    studies = {number: study(number) for number in numbers}
    folders = {number: scratch.folder / f"split-{number}" for number in numbers}
    parts = []
    for number in steps(numbers, "splits"):
        parts.append(scratch.part(f"split {number}", lambda at=number: tuned(at, studies, folders, model, scratch)))
        (folders[number] / STATE).unlink(missing_ok=True)
        if not params.keep_checkpoints:
            shutil.rmtree(folders[number], ignore_errors=True)
    if params.keep_checkpoints:
        pack(folders, job.output[1])
    write_grid(grid(job, parts, studies, model), job.output[0])
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def tuned(number, studies, folders, model, scratch):
    """The fine-tuned model's record of one split."""
    study = studies[number]
    if study.condition["private"]:
        return tune_privately(model, study)
    return tune(model, study, folders[number], lambda name, of: scratch.part(f"split {number} {name}", of))


def grid(job, parts, studies, model):
    """The records of all splits as one grid, with id, role and label of every target."""
    runs = list(studies.values())
    condition = runs[0].condition
    variables = {name: (("split", *axis), np.stack([part[name] for part in parts])) for name, axis in AXES.items()}
    facts = {name: np.stack([study.facts(name) for study in runs]) for name in ("id", "role", "label")}
    epochs = list(condition["epochs"])
    coordinates = {name: (("split", "target"), values) for name, values in facts.items()}
    coordinates |= {"dataset": ("target", runs[0].facts("dataset")), "split": list(studies)}
    coordinates |= {"epoch": epochs, "stage": [0, *epochs]} | axes(runs[0].prober.suite)
    attrs = {"task": job.wildcards.task, "arm": job.wildcards.arm, "labels": condition["labels"]}
    attrs |= {"settings": json.dumps(condition, sort_keys=True), "mode": model.mode, "scaling": SCALING}
    attrs |= {"trainable": int(parts[0]["trainable"]), "optimiser": "AdamW"}
    # CPU seconds of all splits: of fine-tuning up to the last probed epoch, and of all probes.
    attrs["seconds_finetune"] = float(np.nan_to_num(variables["seconds_finetune"][1]).max(1).sum())
    attrs["seconds_probe"] = float(np.nansum(variables["seconds_probe"][1]))
    if condition["private"]:
        attrs["guarantee"] = json.dumps(asdict(dp_sgd.guarantee(private_settings(runs[0]))), sort_keys=True)
    return xr.Dataset(variables, coordinates, attrs)


def pack(folders, path):
    """The checkpoints of all splits in one file."""
    with replacing(path) as temporary, ZipFile(temporary, "w") as archive:
        for number, folder in folders.items():
            for checkpoint in sorted(folder.glob("*.safetensors")):
                archive.writestr(ZipInfo(f"split-{number}/{checkpoint.name}"), checkpoint.read_bytes())


if __name__ == "__main__":
    run(resumable(main), globals())
