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

import numpy as np
import xarray as xr

from memaudit.attacks.score_matrices import gather
from memaudit.common.io import read_grid, write_grid
from memaudit.common.job_inputs import several
from memaudit.common.progress_bar import steps
from memaudit.studies.predict.prediction_checkpoints import by_rule, interrupted, interruptions
from memaudit.studies.predict.target_scorer import TargetScorer
from memaudit.studies.predict.target_scores import OF_STATES, at_interruption
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params, name = job.params, job.wildcards.case
    prepared, signals = read_grid(job.input.records), gather(job.input.signals).sel(model=range(job.params.targets))
    member = prepared.membership.values[: params.targets]
    candidates = interruptions(signals.loss.values, member, params.drop)
    targets = interrupted(candidates, params.interrupt, name, params.drop, params.tolerance)
    stops = np.array(by_rule(candidates, params.interrupt, params.drop - params.tolerance))[targets]
    print(f"{name}: {len(targets)} of {params.targets} targets are interrupted where their loss has fallen far enough")
    scorer = TargetScorer(prepared, signals, several(job.input.states), params.scoring, params.seed)

    def part(target: int, checkpoint: int, layer: int) -> np.ndarray:
        named = f"target{target:04d} checkpoint{checkpoint:04d} layer{layer:04d}"
        return scratch.part(named, lambda: scorer.score(target, checkpoint, layer))

    at_last, at_stop, inputs, more = [], [], [], []
    for target, stop in steps(zip(targets, stops, strict=True), "targets", total=len(targets)):
        at_last.append([part(target, place, scorer.layers - 1) for place in range(signals.sizes["checkpoint"])])
        at_stop.append([part(target, stop, layer) for layer in range(scorer.layers)])
        inputs.append(scratch.part(f"target{target:04d} inputs", lambda target=target: scorer.untrained(target)))
        named = f"target{target:04d} features"
        more.append(scratch.part(named, lambda target=target, stop=stop: scorer.at_stop(target, stop)))
    scores = assembled(np.array(at_last), np.array(at_stop), signals.sel(model=targets), member[targets], name)
    scores = scores.assign(at_interruption(np.array(more), stops, [candidates[target] for target in targets]))
    write_grid(scores.assign(psmi_inputs=(("target", "record"), np.array(inputs))), job.output[0])
    return {"seed": params.seed}


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
