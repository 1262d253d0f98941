"""The page of a run in which jobs have failed: which, why, what is missing for that, and how to go on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def page(request: Mapping[str, Any]) -> str:
    """Markdown; request: as workflow/partial_request.py writes it."""
    return "\n".join([*_failed(request), *_missing(request), *_going_on(request)]) + "\n"


def _failed(request: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {request['run']}: partial results", "")
    failed, waiting = len(request["failed"]), request["waiting"]
    if request["interrupted"]:
        counts = f"The run was interrupted. Jobs that were ended with it: {failed}; that were not started: {waiting}."
    else:
        counts = f"Jobs that failed: {failed}; that could not run for that, or were not started: {waiting}."
    yield f"{counts} The tables beside this page are made of the results that exist; each lists what it lacks."
    yield from ("", "## What was ended" if request["interrupted"] else "## What has failed", "")
    for job in request["failed"]:
        wildcards = "".join(f" {value}" for value in job["wildcards"])
        yield f"- `{job['rule']}{wildcards}`: {_last_line(job['log'])}"
        yield from (f"  - log: {path}" for path in job["log"])


def _missing(request: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## What is missing", "")
    missing = set(request["missing"])
    for study, view in request["studies"].items():
        files = {file for table in view["tables"].values() for file in table["files"]}
        files |= {*view["judged"], *view["stated"]}
        lacking = sorted(files & missing)
        whole = [name for name, table in view["tables"].items() if not missing & set(table["files"])]
        complete = ", ".join(whole) or "none"
        yield f"- {study}: {len(lacking)} of {len(files)} files of results are missing; complete tables: {complete}"
        yield from (f"  - {file}" for file in lacking)


def _going_on(request: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## How to go on", "")
    first = "Give" if request["interrupted"] else "Mend what the log names, and give"
    yield f"{first} the same command again: what is finished is not run again."
    yield from ("", f"    {request['command']}", "")
    if request["interrupted"]:
        yield "The run removes these partial tables when it starts."
        return
    yield (
        "Or take the data set, model or condition of the failed job out of the config: the complete tables are then "
        "made without it. The next run removes these partial ones when it starts."
    )


def _last_line(logs: list[str]) -> str:
    """The last line of the first log that says something."""
    for path in logs:
        if Path(path).is_file():
            lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
            if said := [line for line in lines if line.strip()]:
                return said[-1].strip()
    return "its log is empty: it was ended from outside, or is in the cluster's own log"
