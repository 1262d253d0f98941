"""Probe the base model on the targets of all splits of one data set, under one label condition.

python workflow_scripts/iclmem/probe_reference.py --input records=records.parquet schema=schema.json \
    splits=splits.parquet model=model.json --output reference_normal.nc \
    --wildcards '{"dataset": "wine", "labels": "normal"}' \
    --params '{"seed": 1, "splits": 5, "queries": 50, "context": 5, "candidates": 5, "replicates": 1,
        "free_text": "refuse", "manipulations": [{"name": "baseline", "category": "baseline", "steps": []}]}'

Under the condition `canaries` each target gets the label that the base model finds least probable. Each split is kept
in a scratch folder as soon as it is finished, so a killed job resumes there.
"""

from dataclasses import replace

import numpy as np
import torch
import xarray as xr

from memaudit.common.io import write_grid
from memaudit.common.private_files import keep_private
from memaudit.common.progress_bar import steps
from memaudit.models.model_folder import device
from memaudit.studies.iclmem.model_probing import axes, open_study, packed
from memaudit.studies.iclmem.table_splits import CANARIES, SCALING
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params, labels = job.params, job.wildcards.labels
    keep_private(scratch.folder)
    (table,), model, prober = open_study(job, [job.wildcards.dataset])

    def probed(number):
        split = table.split(number, labels)
        rows = split.targets(params.queries, params.context)
        if labels == CANARIES:
            y = split.y.clone()
            y[torch.from_numpy(rows)] = prober.canaries(model, split, rows).to(y.dtype)
            split = replace(split, y=y)
        facts = {name: split.facts[name].to_numpy(str)[rows] for name in ("id", "role")}
        facts |= {"signals": prober.probe(model, split, rows), "label": split.y[rows].double()}
        return packed(pair=split.pairs(rows), **facts)

    numbers = range(params.splits)
    parts = [scratch.part(f"split {number}", lambda at=number: probed(at)) for number in steps(numbers, "splits")]
    arrays = {name: np.stack([part[name] for part in parts]) for name in ("signals", "label", "id", "role", "pair")}
    coordinates = {name: (("split", "target"), arrays[name]) for name in ("id", "role", "pair")}
    coordinates |= {"split": list(numbers)} | axes(prober.suite)
    variables = {
        "signals": (("split", "target", "manipulation", "signal"), arrays["signals"]),
        "label": (("split", "target"), arrays["label"]),
    }
    attrs = {"dataset": table.dataset, "task": model.task, "labels": labels}
    attrs |= {"candidates": prober.offered(table), "mode": model.mode, "scaling": SCALING} | table.facts()
    write_grid(xr.Dataset(variables, coordinates, attrs), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
