"""Faults of the machine that a job meets, each as one line: what is wrong, where, how to fix it."""

import sys
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.machine_faults import AGAIN, disk_fault, is_out_of_memory


def explain(error: BaseException, job: Any) -> str | None:
    """The line for the user; None for an error that nobody has foreseen, whose traceback is all there is to say.

    Where an AuditError blames a file, but came of a full disk or memory, it is these that count.
    """
    cause = error.__cause__ if isinstance(error, AuditError) and error.__cause__ else error
    if is_out_of_memory(cause):
        return f"{job.rule}: {_memory(cause, job)}"
    if line := disk_fault(cause, job.rule):
        return line
    match error:
        case AuditError():
            return str(error)
        case KeyboardInterrupt():
            return f"{job.rule}: interrupted; {AGAIN}"
        case ImportError(name=str(name)) if not name.startswith("memaudit"):
            return (
                f"{job.rule}: package {name} cannot be imported in the environment {sys.prefix} ({error}); "
                "install there what requirements.lock names, or let `rm -rf .venv && make .venv` do it"
            )
    return None


def _memory(error: BaseException, job: Any) -> str:
    if "CUDA" in str(error):
        return (
            "the GPU's memory is full; end what else runs on it, or take one with more (on a cluster with "
            f"`--set-resources {job.rule}:gpu_model=NAME`)"
        )
    requested = job.resources.get("mem_mb")
    return (
        f"out of memory{f', having requested {requested} MB' if requested else ''}; give it more with `--set-resources "
        f"{job.rule}:mem_mb={2 * requested if requested else 'MB'}`, or run fewer jobs at once with `--cores 1`"
    )
