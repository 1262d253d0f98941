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
from textwrap import fill

from memaudit.common.io import read_json
from memaudit.common.snakemake_command import mark_no_start
from memaudit.statistics.sample_size import requirements
from memaudit.workflow.feasibility import feasibility, this_machine
from memaudit.workflow.job import run, tell
from memaudit.workflow.job_costs import Cost, Size, estimate, extrapolated
from memaudit.workflow.plan_text import cost_table, fault_lines, note_lines, state_lines


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
    table = cost_table(parts | {"total": costs}, units.get("errors", {}))
    faults, notes = fault_lines(job.params, jobs, units["rules"], flops), note_lines(job.params, jobs, units)
    listed = [*faults, *state_lines(costs), *notes]
    wrapped = [fill(f"- {note}", 118, subsequent_indent="  ") for note in listed]
    start = "A RUN WOULD NOT START: see below the table.\n" if job.params.missing else ""
    head = f"\n{job.params.run}: what a run from scratch costs\n\n{start}{fill(verdict, 118)}\n"
    text = "\n".join([head, table, "", *wrapped, "", *_shadows(job.params)])
    print(text)
    if job.log:
        tell(text)
    if job.params.missing:
        mark_no_start()


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
