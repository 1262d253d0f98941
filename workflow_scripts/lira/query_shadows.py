"""Query one shard of shadow models about every record: the logit-scaled confidence in its true label.

python workflow_scripts/lira/query_shadows.py --input records=records.parquet schema=schema.json design=design.nc \
    model=model.json --output shard.nc --wildcards '{"dataset": "wine", "grid": "efficient", "shard": "0"}' \
    --params '{"shard": 64, "code": "by hand"}'

Each shadow model's row is kept in a scratch folder as it is finished: a killed job goes on where it stopped.
"""

import numpy as np
import torch
import xarray as xr

from memaudit.attacks.shadow_queries import logit_signals
from memaudit.common.io import read_grid, read_json, read_table, write_grid
from memaudit.common.progress_bar import steps
from memaudit.data.record_encoding import encode, vocabulary
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable

PART = 16  # models between checkpoints: seconds to a minute of work


def main(job, scratch):
    design = read_grid(job.input.design)
    schema = read_json(job.input.schema)
    records = read_table(job.input.records).set_index("id").loc[design.record.values]
    classes = len(schema["target"]["categories"])
    schema = vocabulary(records, schema)
    model = load(job.input.model, job.threads, schema)
    x, y = (torch.from_numpy(part) for part in encode(records, schema, model.reads_text))
    most = int(design.design.sum("record").max())
    model.limits.check(f"lira/model, data set {job.wildcards.dataset}", most, x.shape[1], classes)

    memory = job.resources.get("forward_mb", MEMORY)
    first = int(job.wildcards.shard) * job.params.shard
    models = np.arange(first, min(first + job.params.shard, design.sizes["model"]))
    queried = torch.from_numpy(design.asked.values)
    parts = [
        scratch.part(
            f"{part[0]:06d}",
            lambda part=part: logit_signals(model, x, y, design.design.values[part], queried, classes, memory),
        )
        for part in steps(np.array_split(models, -(-models.size // PART)), "shadow models", unit=f"x{PART}")
    ]
    signals = xr.DataArray(np.vstack(parts), dims=("model", "record"), name="signal")
    grid = xr.Dataset({"signal": signals}, {"model": models, "record": design.record.values[queried.numpy()]})
    write_grid(grid.assign_attrs(design.attrs, mode=model.mode, signal="logit-scaled confidence"), job.output[0])
    return {"device": device(), "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
