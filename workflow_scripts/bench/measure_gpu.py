"""Measure what the workflow does on a GPU, most valuable first, in at most 40 minutes on an H200.

python workflow_scripts/bench/measure_gpu.py --output results/bench --params '{"parts": ["equality", "rates"]}'

Each part writes gpu_<part>.json into the folder: equality (CPU against GPU), rates (of shadow grids), grid (of 4,096
models), densities (of numbers to predict), nulls (LiRA's, on the processor), compilation, fine_tuning, token_features,
lt_mia_training, packages (the models of other packages, as deployed; CPU against GPU). A second run skips finished
parts and goes on with the others; parts of another device or of other package versions are measured anew, and with
"force": true all are. Each part has a time limit; too little memory is recorded as such, and the other cases go on.
Params: parts (default: all), device (cuda), size (published), force (false). Without a GPU the script ends at once,
except for '{"device": "cpu", "size": "smallest"}', which tries every part on tiny networks and should go to another
folder.
"""

import time
from pathlib import Path

import torch

from memaudit.common.errors import AuditError
from memaudit.gpu_measurements import (
    compilation,
    cpu_gpu_equality,
    device_facts,
    fine_tuning_steps,
    package_equality,
    randomisation_nulls,
    regression_densities,
    shadow_grids,
    token_attack_rates,
)
from memaudit.gpu_measurements.resumable_parts import Part, is_finished
from memaudit.gpu_measurements.resumable_parts import run as run_part
from memaudit.workflow.job import run

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        cpu_gpu_equality.PART,
        shadow_grids.RATES,
        shadow_grids.GRID,
        regression_densities.PART,
        randomisation_nulls.PART,
        compilation.PART,
        fine_tuning_steps.PART,
        token_attack_rates.FEATURES,
        token_attack_rates.TRAINING_PART,
        package_equality.PART,
    )
}
DEFAULTS = {"parts": list(PARTS), "device": "cuda", "size": "published", "force": False}


def main(job):
    params = DEFAULTS | vars(job.params)
    check(params)
    unfinished = []
    for number, name in enumerate(params["parts"], 1):
        path = Path(job.output[0]) / f"gpu_{name}.json"
        identity = {"part": name, "size": params["size"], "device": device_facts.name_of(params["device"])}
        identity |= {"versions": device_facts.versions() | PARTS[name].versions()}
        where = f"memaudit: gpu {number}/{len(params['parts'])} {name}"
        if params["force"]:
            path.unlink(missing_ok=True)
        if is_finished(path, identity):
            print(f"{where}: finished before, {path}", flush=True)
            continue
        began, part = time.monotonic(), PARTS[name]
        record = run_part(part, path, identity, params["device"], part.limit)
        seconds = time.monotonic() - began
        print(f"{where}: {report(part, record)} [{seconds:.0f} s, {path}]", flush=True)
        unfinished += [name] * (record["status"] != "finished")
    if unfinished:
        raise AuditError(f"gpu: unfinished: {', '.join(unfinished)}; run the same command again, it goes on from here")


def check(params):
    """Raise AuditError for params that are unknown, and where there is no GPU."""
    if unknown := [*(params.keys() - DEFAULTS), *(set(params["parts"]) - PARTS.keys())]:
        raise AuditError(
            f"gpu: unknown: {', '.join(unknown)}; params are {', '.join(DEFAULTS)}, parts {', '.join(PARTS)}"
        )
    if params["size"] not in ("published", "smallest"):
        raise AuditError(f"gpu: size {params['size']!r}; choose published or smallest")
    if params["device"] == "cpu" and params["size"] == "published":
        raise AuditError('gpu: the published sizes need a GPU; on a CPU choose {"device": "cpu", "size": "smallest"}')
    if params["device"] != "cpu" and not torch.cuda.is_available():
        raise AuditError(
            "gpu: PyTorch finds no GPU here; run it where one is, or try it with "
            '--params \'{"device": "cpu", "size": "smallest"}\''
        )


def report(part, record):
    """One line on a part: its headline, and what is missing."""
    outcomes = [case["outcome"] for case in record["cases"]]
    counts = [f"{outcomes.count(kind)} {kind}" for kind in ("out of memory", "left out", "failed") if kind in outcomes]
    measured = [case for case in record["cases"] if case["outcome"] == "measured"]
    line = part.headline(measured) if measured else "nothing was measured"
    missing = "" if record["status"] == "finished" else f", unfinished ({record['cause']})"
    return line + "".join(f", {count}" for count in counts) + missing


if __name__ == "__main__":
    run(main, globals())
