"""What to tabulate when a run ends with failed jobs: one study's dead job costs its own rows, not all tables."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.common.snakemake_command import TYPED
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.view_files import Views

TABULATE = "views_tabulate_results_"


def partial_folder(run: RunConfig) -> Path:
    """Where partial tables are: never beside the complete ones, and no input of any job."""
    return Path(run.folder) / "partial"


def write_request(run: RunConfig, views: Mapping[str, Views], workflow: Any, interrupted: bool = False) -> Path | None:
    """Write partial/request.json for the studies whose tables failed jobs have cost; None where there are none.

    interrupted: the user has ended the run, and with it the jobs that Snakemake calls failed. What is missing are
    outputs of jobs that this run wanted and did not finish: also files that lie there from before.
    """
    unfinished = set(workflow.dag.needrun_jobs())
    failed = [job for job in workflow.scheduler.failed if job in unfinished]
    names = [name for name in views if any(job.rule.name == f"{TABULATE}{name}" for job in unfinished)]
    if not (names and failed):
        return None
    missing = {str(path) for job in unfinished for path in job.output}
    request = {
        "run": run.folder,
        "claims": run.in_project("config/claims.yaml"),
        "interrupted": interrupted,
        "command": os.environ.get(TYPED) or shlex.join(["snakemake", *sys.argv[1:]]),
        "studies": {name: _study(views[name], run.folder) for name in names},
        "missing": sorted(missing),
        "failed": [
            {"rule": job.rule.name, "wildcards": list(job.wildcards), "log": [str(path) for path in job.log]}
            for job in sorted(failed, key=lambda job: (job.rule.name, list(job.wildcards)))
        ],
        "waiting": len(unfinished) - len(failed),
    }
    folder = partial_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    return folder / "request.json"


def remove_partial(run: RunConfig, workflow: Any) -> None:
    """Remove the partial tables of an earlier run, where this one makes tables."""
    if any(job.rule.name.startswith(TABULATE) for job in workflow.dag.needrun_jobs()):
        shutil.rmtree(partial_folder(run), ignore_errors=True)


def _study(view: Views, folder: str) -> dict[str, Any]:
    def found(files: list[str]) -> list[str]:
        return [file.replace("<results>", folder) for file in files]

    made = set(view.concluded.values())
    return {
        "tables": {
            name: {"files": found(table["files"]), "layout": table["layout"], "caption": table["caption"]}
            for name, table in view.tables.items()
            if not made & set(table["files"])
        },
        "judged": found(view.claims),
        "stated": found(view.headlines["files"] if view.headlines else []),
        "sentences": view.headlines["sentences"] if view.headlines else [],
    }
