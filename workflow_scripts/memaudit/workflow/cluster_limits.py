"""What rules request of a cluster, held to the limits of its partitions as the profile states them."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SHOWN = ("mem_mb", "runtime", "gpu")
COMPARED = (*SHOWN, "gpu_model", "slurm_partition", "_cores")


def partition_faults(workflow: Any, jobs: Iterable[Any]) -> list[str]:
    """A line for each rule with a job that fits no partition of the profile, with a remedy; [] without such limits.

    jobs: with `rule.name`, `resources` and `threads`, as Snakemake has them; only their first attempt is looked at.
    Slurm would refuse such a job, or keep it waiting for ever, when its turn comes.
    """
    path = getattr(workflow.executor_settings, "partition_config", None) or os.environ.get("SNAKEMAKE_SLURM_PARTITIONS")
    if not path:
        return []
    # Where nothing goes to Slurm its executor need not be installed.
    from snakemake_executor_plugin_slurm.partitions import read_partition_file

    partitions, found = read_partition_file(Path(path)), {}
    for job in jobs:
        # A partition that is named for a job is its user's word.
        named = job.resources.get("slurm_partition")
        if not (named or any(partition.score_job_fit(job) is not None for partition in partitions)):
            found.setdefault(job.rule.name, job)
    return [
        f"{path}: no partition takes a job of {name} ({_requests(job)}); state the limits that your cluster has there, "
        f"or set what the job requests in the profile (set-resources/{name})"
        for name, job in found.items()
    ]


def typical_job(rule: Any) -> SimpleNamespace:
    """A job of a rule with what the rule requests of every job; what it computes from the job itself is left out."""
    requests = {}
    for name in COMPARED:
        resource = rule.resources.get(name)
        try:
            requests[name] = resource.evaluate(None, attempt=1).value if resource.is_evaluable() else resource.value
        except (AttributeError, TypeError, KeyError):  # it looks its job up: by wildcards, inputs or threads
            continue
    requests = {name: value for name, value in requests.items() if value is not None}
    return SimpleNamespace(rule=rule, resources=requests, threads=requests.get("_cores", 1))


def _requests(job: Any) -> str:
    shown = {name: job.resources.get(name) for name in SHOWN} | {"threads": job.threads}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value)
