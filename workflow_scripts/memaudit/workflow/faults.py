"""Faults of the machine that a job meets, each as one line: what is wrong, where, how to fix it."""

import errno
import os
import sys
from typing import Any

from memaudit.common.errors import AuditError

AGAIN = "run the same command again, it goes on from here"
RIGHTS = "this user must be able to read and write there; change its permissions or use another folder"
FULL = os.strerror(errno.ENOSPC)
DISK = {
    errno.ENOSPC: f"free some, and {AGAIN}",
    errno.EDQUOT: f"free some, and {AGAIN}",
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
}


def explain(error: BaseException, job: Any) -> str | None:
    """The line for the user; None for an error that nobody has foreseen, whose traceback is all there is to say.

    Where an AuditError blames a file, but came of a full disk or memory, it is these that count.
    """
    cause = error.__cause__ if isinstance(error, AuditError) and error.__cause__ else error
    if is_out_of_memory(cause):
        return f"{job.rule}: {_memory(cause, job)}"
    if (code := _disk_fault(cause)) in DISK:
        # Of a copy the second name is that of the target.
        place = getattr(cause, "filename2", None) or getattr(cause, "filename", None) or job.rule
        return f"{place}: {os.strerror(code).lower()}; {DISK[code]}"
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


def _disk_fault(error: BaseException) -> int | None:
    """The errno of a fault of the disk; DuckDB has errors of its own, which quote the text of a full one."""
    return error.errno if isinstance(error, OSError) else errno.ENOSPC if FULL in str(error) else None


def is_out_of_memory(error: BaseException) -> bool:
    """Torch and DuckDB have classes of their own for it; on the CPU torch has none, and its oneDNN a vague text."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or type(error).__name__ in {"OutOfMemoryError", "OutOfMemoryException"}
        or "can't allocate memory" in str(error)
        or str(error) == "could not create a primitive"
    )


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
