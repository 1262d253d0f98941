"""Print what a run costs before anything is submitted, from its config and from measured unit costs.

python workflow_scripts/maintenance/print_plan.py --params '{"run": "results/demo",
    "unit_costs": "results/bench/unit_costs.json",
    "jobs": {"lira_gather_grid": {"wine/efficient": [182272, 182272, 182272]}}, "gpu": [], "cores": 2,
    "tables": {"wine": {"rows": 178, "columns": 13, "known": true, "damaged": null}},
    "settings": {"gpu_tflops": 10.0, "width": 0.1}, "uncounted": [], "missing": [],
    "downloads": {"tables": 1, "weights": 0}, "minutes": {"lira_gather_grid": 10},
    "shadows": {"lira": {"models": 1024, "fpr": [0.1, 0.01], "records": {"wine": 142}}}}'
"""

from collections.abc import Iterator
from math import floor
from textwrap import fill

import pandas as pd

from memaudit.common.io import read_json
from memaudit.common.snakemake_command import mark_no_start
from memaudit.statistics.sample_size import requirements
from memaudit.workflow.downloads import told
from memaudit.workflow.feasibility import BEYOND, feasibility, span, this_machine
from memaudit.workflow.job import run, tell
from memaudit.workflow.job_costs import Cost, Size, cpu_range, estimate, extrapolated, is_resumable, too_long

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


def main(job):
    units = read_json(job.params.unit_costs)
    jobs = {rule: {name: Size(*size) for name, size in sizes.items()} for rule, sizes in job.params.jobs.items()}
    flops = job.params.settings["gpu_tflops"] * 1e12
    costs = estimate(jobs, units["rules"], job.params.gpu, flops)
    parts: dict[str, dict[str, Cost]] = {}
    for rule, cost in costs.items():
        parts.setdefault(rule.split("_")[0], {})[rule] = cost
    studies = {study: sum(of_rules.values(), Cost()) for study, of_rules in parts.items()}
    beyond = extrapolated(jobs, units["rules"])[1]
    verdict = feasibility(studies, this_machine(job.params.cores, job.params.run), beyond)
    studies["total"], parts["total"] = sum(studies.values(), Cost()), costs
    lines = [_line(cost, cpu_range(parts[study], units.get("errors", {}))) for study, cost in studies.items()]
    table = pd.DataFrame(lines, list(studies), HEAD).to_string()
    notes = [*_faults(job.params, jobs, units["rules"], flops), *_states(costs), *_notes(job.params, jobs, units)]
    wrapped = [fill(f"- {note}", 118, subsequent_indent="  ") for note in notes]
    start = "A RUN WOULD NOT START: see below the table.\n" if job.params.missing else ""
    head = f"\n{job.params.run}: what a run from scratch costs\n\n{start}{fill(verdict, 118)}\n"
    text = "\n".join([head, table, "", *wrapped, "", *_shadows(job.params)])
    print(text)
    if job.log:
        tell(text)
    if job.params.missing:
        mark_no_start()


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


def _faults(params, jobs, units, flops: float) -> Iterator[str]:
    """What would end the run: first what ends it before its first job."""
    yield from (f"A RUN WOULD NOT START: {line}." for line in params.missing)
    for rule, minutes in too_long(jobs, units, params.gpu, flops, params.minutes).items():
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


def _states(costs: dict[str, Cost]) -> Iterator[str]:
    """The largest state of a job, where it is worth a line."""
    rule, cost = max(costs.items(), key=lambda pair: pair[1].states)
    if cost.states >= NAMED_STATE:
        yield (
            f"{cost.states / 1e9:,.0f} GB of the disk are what a job of {rule} keeps until it ends, to go on from if "
            "it is killed: count them once more for each further job that runs at the same time."
        )


def _notes(params, jobs, units) -> Iterator[str]:
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


def _table(name: str, table: dict) -> str:
    origin = "" if table["known"] else " (lines of its file)" if table["counted"] else " (assumed until it is fetched)"
    damaged = f" ({table['damaged']} is damaged: delete it, the next run makes it anew)" if table["damaged"] else ""
    return f"{name} {table['rows']:,} x {table['columns']:,}{damaged or origin}"


def _shadows(params) -> Iterator[str]:
    for study, needs in params.shadows.items():
        records = ", ".join(f"{count:,} records of {name}" for name, count in needs["records"].items())
        yield f"{study}: {needs['models']:,} shadow models, at most {records}, less duplicates. An evaluation needs"
        width = params.settings["width"]
        for count, purpose, short in requirements(needs["models"], needs["records"], needs["fpr"], width):
            yield f"  {count:>7,} {purpose}" + (f"  <- too few here: {', '.join(short)}" if short else "")
    if params.shadows:
        yield "Worst cases (memaudit/statistics/sample_size.py); estimated thresholds add to them. See plan/width."


if __name__ == "__main__":
    run(main, globals())
