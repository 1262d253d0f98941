"""Whether one machine can do a run: its predicted time, memory and disk against the machine's."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memaudit.workflow.job_costs import Cost

DAY = 86400.0
PATIENCE = 7 * DAY  # seconds; what takes longer on one machine is called not feasible there
NAMED = 3
BEYOND = 2.0  # times the work of any measured job: where a prediction is called extrapolated


@dataclass(frozen=True)
class Machine:
    """Cores that a command may use; main memory in MiB and free disk in bytes, None where unknown."""

    cores: int
    memory: float | None
    disk: float | None


def this_machine(cores: int, folder: str | Path) -> Machine:
    """The machine that this process runs on; its disk is the one of the nearest existing parent of `folder`."""
    there = next(path for path in (Path(folder).resolve(), *Path(folder).resolve().parents) if path.exists())
    names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
    known = all(name in os.sysconf_names for name in names)
    memory = os.sysconf(names[0]) * os.sysconf(names[1]) / 2**20 if known else None
    return Machine(cores, memory, shutil.disk_usage(there).free)


def feasibility(studies: Mapping[str, Cost], machine: Machine, beyond: float = 1.0) -> str:
    """One sentence: how long a run takes on this machine; or that it is not feasible there, why, and what to shrink.

    studies: predicted cost of each study of the run; beyond: work of the largest job over that of any measured.
    """
    total = sum(studies.values(), Cost())
    seconds = max(total.cpu_seconds / machine.cores, total.longest)
    on_gpu = total.gpu_seconds + (total.cpu_seconds - total.for_gpu) / machine.cores
    time = f"about {span(seconds)} on {machine.cores} CPU core{'s' if machine.cores > 1 else ''}"
    time += f" ({span(on_gpu)} with a GPU)" if total.for_gpu and on_gpu < seconds else ""
    time += f", extrapolated up to {beyond:,.0f} times beyond any measured job" if beyond > BEYOND else ""
    if lacks := list(_lacks(total, seconds, time, machine)):
        return f"NOT FEASIBLE ON THIS MACHINE: {'; '.join(lacks)}. Shrink {_largest(studies, total)}, or use a cluster."
    return f"Feasible on this machine: {time}, less what is there already."


def _lacks(total: Cost, seconds: float, time: str, machine: Machine) -> Iterator[str]:
    if seconds > PATIENCE:
        yield time
    if machine.memory and total.mebibytes > machine.memory:
        yield f"a job needs {total.mebibytes / 1024:,.1f} GiB of memory, and it has {machine.memory / 1024:,.1f}"
    if machine.disk is not None and total.disk > machine.disk:
        yield f"results need {total.disk / 1e9:,.1f} GB of disk, and {machine.disk / 1e9:,.1f} are free"


def _largest(studies: Mapping[str, Cost], total: Cost) -> str:
    """The studies that take most of the CPU time, with their shares."""
    shares = {name: cost.cpu_seconds / max(total.cpu_seconds, 1.0) for name, cost in studies.items()}
    most = sorted(shares, key=shares.__getitem__, reverse=True)[:NAMED]
    named = ", ".join(f"{name} ({shares[name]:.0%} of the CPU time)" for name in most if shares[name] >= 0.01)
    return f"the numbers of models, records and data sets of these studies: {named or ', '.join(most)}"


def span(seconds: float) -> str:
    """A time as people say it: 40 s, 12.3 min, 5.1 h, 3.2 days, 22 years."""
    for unit, size, below in (
        ("s", 1.0, 60.0),
        ("min", 60.0, 3600.0),
        ("h", 3600.0, 2 * DAY),
        ("days", DAY, 365 * DAY),
    ):
        if seconds < below:
            return f"{seconds / size:.0f} s" if unit == "s" else f"{seconds / size:.1f} {unit}"
    return f"{seconds / (365.25 * DAY):,.1f} years"
