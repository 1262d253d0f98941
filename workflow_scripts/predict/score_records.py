"""Compute the predictors of memorization at the targets' checkpoints: PSMI, Mahalanobis distance, loss, logit gap.

python workflow_scripts/predict/score_records.py --input records=records.nc signals=0.nc states=0.states.nc \
    --output scores.nc --wildcards '{"case": "table_mlp"}' --params '{"seed": 1, "targets": 2, "drop": 0.95,
        "tolerance": 0.03, "interrupt": "first", "scoring": {"directions": 2000, "accuracy": null, "dimensions": 500}}'

Every predictor at every checkpoint from the last layer, (target, checkpoint, record), and those of hidden states from
every layer where training is interrupted, (target, layer, record); higher = more likely to be memorized; and PSMI of
the networks' inputs, and where training is interrupted neighbours, gradient norms and the course of the training so
far, (target, record). All are computed from a target's own training records and NaN for others. Targets
whose loss falls too little are left out. Finished parts are kept: a killed job resumes.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from memaudit.attacks.score_matrices import gather
from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, readable, write_grid
from memaudit.common.job_inputs import several
from memaudit.common.progress_bar import steps
from memaudit.studies.predict.input_features import input_features
from memaudit.studies.predict.prediction_checkpoints import by_rule, interrupted, interruptions
from memaudit.studies.predict.target_scores import OF_STATES, at_interruption, features, predictors
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params, name = job.params, job.wildcards.case
    prepared, signals = read_grid(job.input.records), gather(job.input.signals)
    files = several(job.input.states)
    member, signals = prepared.membership.values, signals.sel(model=range(params.targets))
    candidates = interruptions(signals.loss.values, member[: params.targets], params.drop)
    rule = params.interrupt, name, params.drop, params.tolerance
    targets = interrupted(candidates, *rule)
    stops = np.array(by_rule(candidates, params.interrupt, params.drop - params.tolerance))[targets]
    print(f"{name}: {len(targets)} of {params.targets} targets are interrupted where their loss has fallen far enough")
    inputs = input_features(prepared.x.values)

    def score(target: int, checkpoint: int, layer: int) -> np.ndarray:
        own = member[target]
        states = read_states(files, f"target{target}_layer{layer}", checkpoint)[own]
        rng = seeds.generator(params.seed, "predict", name, "psmi", target, checkpoint, layer)
        return predictors(states, prepared.code.values[own], own, rng, params.scoring)

    def untrained(target: int) -> np.ndarray:
        own = member[target]
        rng = seeds.generator(params.seed, "predict", name, "psmi", target, "inputs")
        return predictors(inputs[own], prepared.code.values[own], own, rng, params.scoring)[0]

    def further(target: int, stop: int) -> np.ndarray:
        own, seen = member[target], signals.isel(model=target, checkpoint=slice(min(1, stop), stop + 1))
        states = read_states(files, f"target{target}_layer{last}", stop)[own]
        return features(states, prepared.code.values[own], own, seen)

    def part(*place: int) -> np.ndarray:
        return scratch.part("target{:04d} checkpoint{:04d} layer{:04d}".format(*place), lambda: score(*place))

    last = layers(files) - 1
    at_last = [
        [part(target, place, last) for place in range(signals.sizes["checkpoint"])]
        for target in steps(targets, "targets, all checkpoints")
    ]
    at_stop = [
        [part(target, stop, layer) for layer in range(last + 1)]
        for target, stop in steps(zip(targets, stops, strict=True), "targets, all layers", total=len(targets))
    ]
    of_inputs = [
        scratch.part(f"target{target:04d} inputs", lambda target=target: untrained(target)) for target in targets
    ]
    more = [
        scratch.part(f"target{target:04d} features", lambda target=target, stop=stop: further(target, stop))
        for target, stop in zip(targets, stops, strict=True)
    ]
    scores = assembled(np.array(at_last), np.array(at_stop), signals.sel(model=targets), member[targets], name)
    scores = scores.assign(at_interruption(np.array(more), stops, [candidates[target] for target in targets]))
    write_grid(scores.assign(psmi_inputs=(("target", "record"), np.array(of_inputs))), job.output[0])
    return {"seed": params.seed}


def read_states(paths: Sequence[str], name: str, checkpoint: int) -> np.ndarray:
    """Hidden states of a checkpoint, (record, feature). Raises AuditError if no file has them."""
    for path in paths:
        with readable(path), xr.open_dataset(path, engine="netcdf4") as file:
            if name in file:
                return file[name][checkpoint].values
    raise AuditError(f"{paths[0]}: no file has {name}; train its shard again")


def layers(paths: Sequence[str]) -> int:
    """Number of layers with hidden states."""
    counts = []
    for path in paths:
        with readable(path), xr.open_dataset(path, engine="netcdf4") as file:
            counts.append(int(file.attrs["layers"]))
    return max(counts)


def assembled(
    at_last: np.ndarray, at_stop: np.ndarray, signals: xr.Dataset, member: np.ndarray, setting: str
) -> xr.Dataset:
    """All scores; at_last: (target, checkpoint, score, record); at_stop: (target, layer, score, record)."""
    whole, deep = ("target", "checkpoint", "record"), ("target", "layer", "record")
    of_signals = {"loss": signals.loss.values, "logit_gap": -signals.gap.values}
    scores = {name: np.where(member[:, None], values, np.nan) for name, values in of_signals.items()}
    scores |= {name: at_last[:, :, place] for place, name in enumerate(OF_STATES)}
    by_layer = {f"layers_{name}": at_stop[:, :, place] for place, name in enumerate(OF_STATES[:2])}
    return xr.Dataset(
        {name: (whole, values) for name, values in scores.items()}
        | {name: (deep, values) for name, values in by_layer.items()}
        | {key: (whole[:2], at_last[:, :, place, 0]) for key, place in (("psmi_seconds", -2), ("seconds", -1))},
        {"checkpoint": signals.checkpoint.values, "record": signals.record.values, "target": signals.model.values},
        {"case": setting},
    )


if __name__ == "__main__":
    run(resumable(main), globals())
