"""The text of a plan: the table of costs by study, and notes on faults, measurements and what is not counted."""

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

import pandas as pd

from memaudit.workflow.downloads import told
from memaudit.workflow.feasibility import BEYOND, span
from memaudit.workflow.job_costs import Cost, Jobs, cpu_range, extrapolated, is_resumable, too_long

HEAD = [
    "jobs",
    "CPU-hours",
    "(range)",
    "for GPUs",
    "or GPU-hours",
    "disk",
    "peak memory",
    "longest job",
]

NAMED_STATE = 1e9  # bytes


def cost_table(parts: Mapping[str, Mapping[str, Cost]], errors: Mapping[str, Mapping[str, Any]]) -> str:
    """A line of jobs, hours, disk and memory for each part of a run; parts: costs of its rules; errors: `cpu_range`."""
    lines = [_line(sum(rules.values(), Cost()), cpu_range(rules, errors)) for rules in parts.values()]
    return pd.DataFrame(lines, list(parts), HEAD).to_string()


def _line(cost: Cost, cpu: tuple[float, float]) -> list[str]:
    return [
        f"{cost.jobs:,}",
        _hours(cost.cpu_seconds),
        " to ".join(map(_hours, cpu)),
        *map(_hours, [cost.for_gpu, cost.gpu_seconds]),
        f"{cost.disk / 1e6:,.0f} MB",
        f"{cost.mebibytes / 1024:.1f} GiB",
        span(cost.longest),
    ]


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return "-" if not seconds else f"{hours:,.0f}" if hours >= 1000 else f"{hours:.3g}"


def fault_lines(params: Any, jobs: Jobs, rules: Mapping[str, Any], flops: float) -> Iterator[str]:
    """What would end the run: first what ends it before its first job.

    params: of the job that prints the plan; rules: their measured unit costs; flops: of a GPU, a second.
    """
    yield from (f"A RUN WOULD NOT START: {line}." for line in params.missing)
    for rule, minutes in too_long(jobs, rules, params.gpu, flops, params.minutes).items():
        requested = params.minutes[rule]
        predicted = (
            f"a job of {rule} is predicted to last {span(60 * minutes)}, on a GPU if it can, and requests "
            f"{span(60 * requested)}, after which a cluster ends it"
        )
        if is_resumable(rule):
            # What a job did since it last kept its state is lost: the last attempt needs room.
            yield (
                f"LONG: {predicted}; sent again (`--retries`), each time with more memory, it goes on where it was, on "
                f"Kubernetes from its beginning: about {floor(minutes / requested)} retries. Smaller shards, or a "
                "longer `runtime` in the profile (set-resources), need none."
            )
        else:
            yield (
                f"TOO LONG: {predicted}: lower the jobs' shares in the config, or raise `runtime` in the profile "
                "(set-resources)."
            )


def state_lines(costs: Mapping[str, Cost]) -> Iterator[str]:
    """The largest state of a job, where it is worth a line; costs: by rule."""
    rule, cost = max(costs.items(), key=lambda pair: pair[1].states)
    if cost.states >= NAMED_STATE:
        yield (
            f"{cost.states / 1e9:,.0f} GB of the disk are what a job of {rule} keeps until it ends, to go on from if "
            "it is killed: count them once more for each further job that runs at the same time."
        )


def note_lines(params: Any, jobs: Jobs, units: Mapping[str, Any]) -> Iterator[str]:
    """What the numbers rest on, and what they leave out; units: the file of unit costs."""
    for device, at in units["measured"].items():
        yield f"Measured on a {device.upper()} ({at['platform']}): {at['jobs']:,} jobs of {at['run']}, {at['date']}."
    yield (
        "The range of CPU-hours is theirs if all jobs were as far off as 90 % of the jobs that were measured and "
        "predicted from jobs of other sizes; rules of which none was, as far off as the worst (docs/performance.md)."
    )
    on_gpu = {rule: entry for rule, entry in units["rules"].items() if rule in params.gpu}
    if not all("cuda" in entry for entry in on_gpu.values()):
        yield (
            "GPU-hours are assumed, not measured: the start-up of a CPU's job, then "
            f"{params.settings['gpu_tflops']:g} TFLOP/s in fp32 for the models' operations (plan/gpu_tflops). "
            "`make costs` after a run on a GPU measures them."
        )
    rule, times = extrapolated(jobs, units["rules"])
    if times > BEYOND:
        yield (
            f"Extrapolated: the largest job of {rule} is {times:,.0f} times as large as any measured. How far off "
            "predictions are within the sizes that were measured, docs/performance.md tells; beyond them nothing does."
        )
    unmeasured = sorted(jobs.keys() - units["rules"].keys())
    if unmeasured:
        yield f"Not measured, and counted as the cheapest of jobs: {', '.join(unmeasured)}."
    if fetched := told(params.downloads):
        yield (
            f"Not counted: the time of downloads of {fetched}, and the disk of their caches. Weights of which the "
            "catalogue states the number are in the disk of results, in full precision."
        )
    if params.uncounted:
        yield (
            f"The passes of {', '.join(params.uncounted)} are counted as those of a raw TabICL of the published shape, "
            "which they are not: run one shard and `make costs` to know."
        )
    yield "Tables, rows x features: " + ", ".join(_table(name, table) for name, table in params.tables.items()) + "."


def _table(name: str, table: Mapping[str, Any]) -> str:
    origin = "" if table["known"] else " (lines of its file)" if table["counted"] else " (assumed until it is fetched)"
    damaged = f" ({table['damaged']} is damaged: delete it, the next run makes it anew)" if table["damaged"] else ""
    return f"{name} {table['rows']:,} x {table['columns']:,}{damaged or origin}"
