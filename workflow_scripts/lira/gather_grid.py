"""Put the shards of one grid together, its membership matrix beside the signals.

python workflow_scripts/lira/gather_grid.py --input design=design.nc shards=0.nc shards=1.nc --output grid.nc
"""

import xarray as xr

from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid
from memaudit.workflow.job import run


def main(job):
    design = read_grid(job.input[0])
    signals = xr.concat([read_grid(path) for path in job.input[1:]], "model").sortby("model")
    if signals.sizes["model"] != design.sizes["model"]:
        raise AuditError(
            f"{job.output[0]}: {signals.sizes['model']} models in the shards, {design.sizes['model']} in the design; "
            "delete the grid's folder of shards and run again"
        )
    design = design.assign_coords(model=signals.model).sel(record=signals.record)
    write_grid(xr.merge([signals, design], combine_attrs="override"), job.output[0])


if __name__ == "__main__":
    run(main, globals())
