"""Train one shard of shadow and target models, and ask each at every checkpoint about every record.

python workflow_scripts/predict/train_shadows.py --input records=records.nc weights=base.safetensors \
    --output signals=0.nc states=0.states.nc --wildcards '{"case": "table_mlp", "shard": "0"}' \
    --params '{"seed": 1, "setting": {"network": {"kind": "mlp", "width": 32, "depth": 2, "together": 8}, "models": 16,
        "targets": 2, "shard": 8, "training": {"epochs": 20, "batch": 16, "learning_rate": 0.01, "optimiser": "adamw",
        "momentum": 0.9, "weight_decay": 0.0, "warmup": 0, "decay": "none", "clip_norm": null, "every": 1, "until": 10,
        "later": 5}}}'

Signals: the loss and the logit gap of every record, (model, checkpoint, record), in nats; and what a model has cost.
States: the targets' hidden states of every layer, `target<t>_layer<l>` (checkpoint, record, feature). A shard that is
killed goes on from the last state of the models that it was training; models that are done stay so.
"""

import numpy as np
import xarray as xr

from memaudit.io import read_grid, replacing, write_grid
from memaudit.models.model_folder import device
from memaudit.models.shadow_ensembles import COUNTS, Trace, settle
from memaudit.studies.predict.shadow_training import Opened, checkpoints
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    settle(job.threads)
    setting, given = job.params.setting, job.input
    card = given.get("model")
    opened = Opened(read_grid(given.records), setting, job.params.seed, given.weights, card, job.threads)
    groups = list(opened.groups(int(job.wildcards.shard)))
    traces = []
    for numbers in steps(groups, "models", unit=f"x{len(groups[0])}"):
        folder = scratch.folder / f"models-{numbers.start:06d}"
        traces.append(opened.group(numbers, folder, scratch.lease.check).train())
    write_grid(signals(opened, groups, traces), job.output[0])
    write_states(opened, groups, traces, job.output[1])
    return {"seed": job.params.seed, "device": device(), "dtype": "float32"}


def signals(opened: Opened, groups: list[range], traces: list[Trace]) -> xr.Dataset:
    """Loss and logit gap (model, checkpoint, record), and counts and seconds (model,)."""
    by_model = {
        name: np.concatenate([getattr(trace, name).transpose(1, 0, 2) for trace in traces]) for name in ("loss", "gap")
    }
    spent = {name: np.repeat([trace.counts[name] for trace in traces], list(map(len, groups))) for name in COUNTS}
    return xr.Dataset(
        {name: (("model", "checkpoint", "record"), values) for name, values in by_model.items()}
        | {name: ("model", values) for name, values in spent.items()},
        coordinates(opened) | {"model": np.concatenate(groups)},
        {"case": opened.name},
    )


def write_states(opened: Opened, groups: list[range], traces: list[Trace], path: str) -> None:
    """Hidden states of the targets, from one memory map at a time into a file that is read in parts."""
    names, facts = ("checkpoint", "record"), {"case": opened.name, "layers": len((*traces[0].states, [])[0])}
    with replacing(path) as temporary:
        xr.Dataset(coords=coordinates(opened), attrs=facts).to_netcdf(temporary, engine="netcdf4")
        for numbers, trace in zip(groups, traces, strict=True):
            for number, layers in zip(numbers, trace.states, strict=False):  # the first ones are targets, if any
                for layer, states in enumerate(layers):
                    kept = xr.Dataset({f"target{number}_layer{layer}": ((*names, f"feature{layer}"), states)})
                    kept.to_netcdf(temporary, mode="a", engine="netcdf4")


def coordinates(opened: Opened) -> dict:
    """Epoch of each checkpoint, id of each record."""
    return {"checkpoint": list(checkpoints(opened.setting["training"])), "record": opened.grid.record.values}


if __name__ == "__main__":
    run(resumable(main), globals())
