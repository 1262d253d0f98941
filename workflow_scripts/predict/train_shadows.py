"""Train one shard of shadow and target models, and query each at every checkpoint with every record.

python workflow_scripts/predict/train_shadows.py --input records=records.nc weights=base.safetensors \
    --output signals=0.nc states=0.states.nc --wildcards '{"case": "table_mlp", "shard": "0"}' \
    --params '{"seed": 1, "setting": {"network": {"kind": "mlp", "width": 32, "depth": 2, "together": 8}, "models": 16,
        "targets": 2, "shard": 8, "training": {"epochs": 20, "batch": 16, "learning_rate": 0.01, "optimiser": "adamw",
        "momentum": 0.9, "weight_decay": 0.0, "warmup": 0, "decay": "none", "clip_norm": null, "every": 1, "until": 10,
        "later": 5}}}'

Signals: the loss and the logit gap of every record, (model, checkpoint, record), in nats; and the cost of each model.
States: the targets' hidden states of every layer, `target<t>_layer<l>` (checkpoint, record, feature). A killed shard
resumes from the last state of the models in training; finished models are kept.
"""

import numpy as np
import xarray as xr

from memaudit.common.io import read_grid, replacing, write_grid
from memaudit.common.progress_bar import steps
from memaudit.models.model_folder import set_up
from memaudit.models.shadow_ensembles import COUNTS, Trace
from memaudit.studies.predict.shadow_training import PreparedSetting, checkpoints
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    device = set_up(job.threads)
    files = job.input
    seed, card = job.params.seed, files.get("model")
    prepared = PreparedSetting(read_grid(files.records), job.params.setting, seed, files.weights, card, job.threads)
    groups = list(prepared.groups(int(job.wildcards.shard)))
    traces = []
    for numbers in steps(groups, "models", unit=f"x{len(groups[0])}"):
        folder = scratch.folder / f"models-{numbers.start:06d}"
        traces.append(prepared.group(numbers, folder, scratch.lease.check).train())
    write_grid(signals(prepared, groups, traces), job.output[0])
    write_states(prepared, groups, traces, job.output[1])
    return {"seed": seed, "device": device, "dtype": "float32"}


def signals(prepared: PreparedSetting, groups: list[range], traces: list[Trace]) -> xr.Dataset:
    """Loss and logit gap (model, checkpoint, record), and counts and seconds (model,)."""
    by_model = {
        name: np.concatenate([getattr(trace, name).transpose(1, 0, 2) for trace in traces]) for name in ("loss", "gap")
    }
    spent = {name: np.repeat([trace.counts[name] for trace in traces], list(map(len, groups))) for name in COUNTS}
    return xr.Dataset(
        {name: (("model", "checkpoint", "record"), values) for name, values in by_model.items()}
        | {name: ("model", values) for name, values in spent.items()},
        coordinates(prepared) | {"model": np.concatenate(groups)},
        {"case": prepared.name},
    )


def write_states(prepared: PreparedSetting, groups: list[range], traces: list[Trace], path: str) -> None:
    """Write the targets' hidden states, from one memory map at a time into a file that is read in parts."""
    names, facts = ("checkpoint", "record"), {"case": prepared.name, "layers": len((*traces[0].states, [])[0])}
    with replacing(path) as temporary:
        xr.Dataset(coords=coordinates(prepared), attrs=facts).to_netcdf(temporary, engine="netcdf4")
        for numbers, trace in zip(groups, traces, strict=True):
            for number, layers in zip(numbers, trace.states, strict=False):  # the first models are targets, if any
                for layer, states in enumerate(layers):
                    kept = xr.Dataset({f"target{number}_layer{layer}": ((*names, f"feature{layer}"), states)})
                    kept.to_netcdf(temporary, mode="a", engine="netcdf4")


def coordinates(prepared: PreparedSetting) -> dict:
    """Epoch of each checkpoint, id of each record."""
    return {"checkpoint": list(checkpoints(prepared.setting["training"])), "record": prepared.grid.record.values}


if __name__ == "__main__":
    run(resumable(main), globals())
