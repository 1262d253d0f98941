"""Parts of a long measurement, each in a process and a file of its own, that go on where an earlier run ended.

A part is a list of cases. Its file is replaced after every case, so a part that reaches its time limit, or a run that
is killed, loses the current case alone. Cases that were measured, or had too little memory, are kept; those
that failed or were not reached are tried again by the next run. A file of another device, size or version is replaced.
"""

import gc
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from memaudit.common.io import read_json, write_json
from memaudit.gpu_measurements.device_facts import machine
from memaudit.models.model_folder import set_up

GRACE = 10  # seconds between the request to end and the kill
# What our own code, cuBLAS and the allocators of the CPU report where torch has no error of its own for it.
MEMORY = ("too little memory", "ALLOC_FAILED", "out of memory", "can't allocate memory", "not enough memory")
KEPT = ("measured", "out of memory", "left out")  # outcomes that no later run tries again


class LeftOut(Exception):  # noqa: N818 - an outcome, not an error
    """A case that cannot be measured here, with the reason."""


class NotReached(Exception):  # noqa: N818 - an outcome, not an error
    """A case that the time left in this run does not allow, with the reason."""


@dataclass
class Setup:
    """What the cases of a part run on. machine: of `device_facts`; done: outcomes of earlier cases, by name."""

    device: str
    smallest: bool
    limit: float  # seconds of the part
    ends: float = float("inf")  # on the clock time.monotonic
    machine: Mapping[str, Any] = field(default_factory=dict)
    done: dict[str, dict[str, Any]] = field(default_factory=dict)

    def seconds_left(self) -> float:
        return self.ends - time.monotonic()


@dataclass(frozen=True)
class Case:
    """One measurement. facts: what is measured (network, dtype, sizes); measure: returns the values of the outcome."""

    name: str
    facts: Mapping[str, Any]
    measure: Callable[[Setup], Mapping[str, Any]]


@dataclass(frozen=True)
class Part:
    """Cases that are measured together. cases(smallest); headline(measured cases): one sentence; limit: seconds.

    versions(): of packages that this part needs beside those of `device_facts.versions`.
    """

    name: str
    limit: float
    cases: Callable[[bool], list[Case]]
    headline: Callable[[list[dict[str, Any]]], str]
    versions: Callable[[], Mapping[str, str | None]] = dict


def is_finished(path: Path, identity: Mapping[str, Any]) -> bool:
    """Whether the file holds a finished part of the same identity (part, size, device, versions)."""
    return path.exists() and _matching(path, identity).get("status") == "finished"


def run(part: Part, path: Path, identity: Mapping[str, Any], device: str, limit: float) -> dict[str, Any]:
    """Measure a part in a process of its own, for at most `limit` seconds; returns what its file then holds.

    A process that dies (too little memory, a fault of the driver) costs the current case: the next goes on after it.
    """
    # A process that has used CUDA cannot be forked; on a CPU a fork saves every part the imports, those of set_up too.
    context = multiprocessing.get_context("fork" if device == "cpu" else "spawn")
    if device == "cpu":
        set_up(torch.get_num_threads())
    ends, outcomes, restart = time.monotonic() + limit, -1, False
    while True:
        process = context.Process(target=measure, args=(part, path, identity, device, ends, restart))
        process.start()
        try:
            process.join(max(0.0, ends - time.monotonic()))
            in_time = not process.is_alive()
        finally:
            _end(process)
        record = _matching(path, identity) or {**identity, "cases": []}
        if not (in_time and process.exitcode and len(record["cases"]) > outcomes):
            break
        outcomes, restart = len(record["cases"]), True
    if record.get("status") != "finished":
        ended = f"a process ended with exit code {process.exitcode}" if in_time else f"its {limit:.0f} s are over"
        record |= {"status": "unfinished", "cause": record.get("cause") or ended}
        write_json(record, path)
    return record


def measure(
    part: Part, path: Path, identity: Mapping[str, Any], device: str, ends: float, restart: bool = False
) -> None:
    """Measure the cases that a part's file lacks.

    restart: the process before this one died in a case, `under_way`; it counts as failed. Otherwise this is a new run,
    which tries failed cases again, and last the one in which the run before ended.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # at the time limit: files of weights are deleted
    gc.freeze()  # what is imported stays: the collections between cases pass over it
    if device != "cpu":
        torch.cuda.set_device(torch.device(device).index or 0)
    set_up(torch.get_num_threads())  # the workflow's own settings
    torch.manual_seed(0)
    began, record = time.monotonic(), _matching(path, identity) or {**identity, "cases": []}
    before, suspect = record.get("seconds_measured", 0.0), record.get("under_way")
    if restart and suspect:
        record["cases"].append({"name": suspect, "outcome": "failed", "message": "its process died"})
    kept = [case for case in record["cases"] if restart or case["outcome"] in KEPT]
    record |= {"status": "unfinished", "cause": None, "limit_seconds": part.limit, "cases": kept, "under_way": None}
    record["machine"] = machine(device, identity["size"] == "smallest")
    setup = Setup(device, identity["size"] == "smallest", part.limit, ends, record["machine"])
    setup.done |= {case["name"]: case for case in kept}
    missing = [case for case in part.cases(setup.smallest) if case.name not in setup.done]
    not_reached = []
    for case in sorted(missing, key=lambda case: case.name == suspect):
        record["under_way"] = case.name
        write_json(record, path)
        if setup.seconds_left() < 0 or (outcome := _outcome(case, setup)) is None:
            not_reached.append(case.name)
            continue
        setup.done[case.name] = outcome
        record["cases"].append(outcome)
        record |= {"under_way": None, "seconds_measured": before + time.monotonic() - began}
        write_json(record, path)
        print(f"  {part.name}: {case.name}: {_short(outcome)}", flush=True)
        _check_usable(device)
    write_json(record | {"under_way": None} | _status(record["cases"], not_reached), path)


def _status(cases: list[dict[str, Any]], not_reached: list[str]) -> dict[str, Any]:
    """Whether a part is finished; else why not."""
    failed = [case["name"] for case in cases if case["outcome"] == "failed"]
    missing = {"not reached": not_reached, "failed": failed}
    cause = "; ".join(f"{what}: {', '.join(names)}" for what, names in missing.items() if names)
    return {"status": "unfinished" if cause else "finished", "cause": cause or None}


def _outcome(case: Case, setup: Setup) -> dict[str, Any] | None:
    """What came of a case, with its facts; None if it was not reached."""
    row: dict[str, Any] = {"name": case.name, **case.facts}
    try:
        row |= {"outcome": "measured", **case.measure(setup)}
    except NotReached:
        return None
    except LeftOut as reason:
        row |= {"outcome": "left out", "message": str(reason)}
    except Exception as error:  # the other cases go on
        memory = isinstance(error, MemoryError | torch.OutOfMemoryError) or any(text in str(error) for text in MEMORY)
        kind = "out of memory" if memory else "failed"
        row |= {"outcome": kind, "message": f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"[:500]}
    # Past the exception, whose frames hold the case's tensors. A device that is lost has no memory to give back.
    gc.collect()
    if setup.device != "cpu":
        with suppress(RuntimeError):
            torch.cuda.empty_cache()
    return row


def _check_usable(device: str) -> None:
    """End the process where the device computes no more: after some errors only a new process can use it."""
    try:
        torch.ones(1, device=device).sum().item()
    except RuntimeError as error:
        raise SystemExit(2) from error


def _end(process: multiprocessing.Process) -> None:
    if process.is_alive():
        process.terminate()
        process.join(GRACE)
    if process.is_alive():
        process.kill()
    process.join()


def _matching(path: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
    """The record in the file, empty if there is none of this identity."""
    record = read_json(path) if path.exists() else {}
    return record if all(record.get(key) == value for key, value in identity.items()) else {}


def _short(outcome: Mapping[str, Any]) -> str:
    if outcome["outcome"] != "measured":
        return f"{outcome['outcome']}: {outcome['message']}"
    return f"{outcome['seconds']:.3g} s" if "seconds" in outcome else "measured"
