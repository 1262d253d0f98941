"""What a rehearsal says: jobs done, what failed and why, missing tables and figures, CPU time beside the plan's."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.common.project_paths import PROJECT
from memaudit.workflow.job_costs import seconds_of
from memaudit.workflow.run_config import read_facts
from memaudit.workflow.sidecar import read_all
from memaudit.workflow.start_up import start_up
from memaudit.workflow.study_catalogue import prepare

FAILED = re.compile(r"^memaudit: (\w+) has failed; see (\S+)", re.M)  # as `job_progress` prints it
STEPS = re.compile(r"^(\d+) of (\d+) steps", re.M)


def outcome(config: Mapping[str, Any], targets: Sequence[str], log: str) -> dict[str, Any]:
    """Return what a finished rehearsal in the working folder has done.

    config: the whole config, with the overlay; targets: studies that were requested, [] all; log: Snakemake's output.
    Keys: done, jobs with a sidecar, of this and of earlier calls; jobs, these and what the last call left; failed, rule
    and reason of each; files and missing, of tables and figures; costs, rows of `costs`.
    """
    run, _, views, workload = prepare(dict(config), PROJECT)
    studies = [study for study in views if not targets or study in targets]
    files = [file.replace("<results>", run.folder) for study in studies for file in views[study].files]
    steps, wanted = map(int, STEPS.findall(log)[-1] if STEPS.search(log) else (0, 0))
    sidecars = read_all(folder := Path(run.folder, "provenance"))
    units = read_facts(run.unit_costs)
    seconds = seconds_of(workload.sizes(), units["rules"] if units else {})
    table = costs(sidecars, folder, seconds)
    return {
        "jobs": len(sidecars) + wanted - steps,
        "done": len(sidecars),
        "failed": [list(failure) for failure in failures(log)],
        "files": len(files),
        "missing": [file for file in files if not Path(file).exists()],
        "costs": table.to_dict("records"),
    }


def summary(found: Mapping[str, Any]) -> str:
    """The text of an `outcome`, for a screen."""
    counts = f"jobs: {found['done']} of {found['jobs']} done, {len(found['failed'])} failed"
    lines = [counts if found["jobs"] else "jobs: none was run"]
    lines += [f"FAILED {rule}: {reason}" for rule, reason in found["failed"]]
    lines += [f"tables and figures: {found['files'] - len(found['missing'])} of {found['files']}"]
    lines += [f"MISSING {file}" for file in dict.fromkeys(file.rpartition(".")[0] for file in found["missing"])]
    return "\n".join([*lines, "", pd.DataFrame(found["costs"]).to_string(index=False)])


def failures(log: str) -> Iterator[tuple[str, str]]:
    """Yield the rule of every job that failed, from Snakemake's output, with its log and the last line there."""
    for rule, file in FAILED.findall(log):
        text = Path(file).read_text(encoding="utf-8") if Path(file).exists() else ""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith(" ")]
        yield rule, f"{file}: {lines[-1] if lines else 'its log is empty'}"


def costs(
    sidecars: Mapping[str, Mapping[str, Any]], folder: Path, seconds: Callable[[str, str], float]
) -> pd.DataFrame:
    """Return CPU seconds of the jobs that have run by study: measured, predicted for the same jobs, and their ratio.

    sidecars: of the run, by path below `folder`; seconds: predicted CPU seconds of a job, by rule and name. The
    start-up of forked jobs, see `start_up`, is a column of its own that counts in the ratio. The last row is of all
    studies.
    """
    rows = []
    for path, record in sidecars.items():
        rule, _, job = Path(path).relative_to(folder).with_suffix("").as_posix().partition("/")
        rows.append((rule.split("_")[0], 1, record["cpu_seconds"], start_up(rule, record), seconds(rule, job)))
    columns = ["study", "jobs", "CPU seconds", "start-up", "predicted"]
    table = pd.DataFrame(rows, columns=columns).groupby("study", sort=False).sum()
    if rows:
        table.loc["all"] = table.sum()
    table = table.assign(ratio=(table["predicted"] / (table["CPU seconds"] + table["start-up"])).round(2))
    return table.round(dict.fromkeys(columns[2:], 0)).astype({"jobs": int}).reset_index()
