"""The claims that a published run was sized for, which must stand in the commit that made it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.errors import AuditError


def refuse_other_sizes(claims: list[str], catalogue: str, run: str, made: Mapping[str, Any]) -> None:
    """Compare the claims that a run was sized for with the catalogue of runs of each commit that made it.

    made: its `commits`, and whether any of its code was `dirty`. A run comes first for the claims that it was sized
    for, so that these must be fixed before it has results. Raises AuditError where the claims differ, or where nothing
    says that they did not: with uncommitted changes, or without a commit.
    """
    if claims and (made["dirty"] or not made["commits"]):
        raise AuditError(
            f"{run} is sized for claims, but was made without a commit or with uncommitted changes; commit, run anew"
        )
    for commit in made["commits"]:
        then = _catalogue_at(commit, Path(catalogue)).get(run, {}).get("sized_for", [])
        if set(then) != set(claims):
            raise AuditError(
                f"{catalogue}: sized_for of {run!r} is not that of commit {commit[:8]}, which made the run, but claims "
                f"are fixed before one is made (then: {', '.join(then) or 'none'}); restore them"
            )


def _catalogue_at(commit: str, catalogue: Path) -> Mapping[str, Any]:
    """The catalogue of runs as of a commit. Raises AuditError where the history lacks it, or it lacks the catalogue."""
    command = ["git", "show", f"{commit}:./{catalogue.name}"]
    try:
        done = subprocess.run(command, cwd=catalogue.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", "") or str(error)).strip().removeprefix("fatal: ")
        raise AuditError(
            f"{catalogue}: cannot be read as of commit {commit[:8]}, which made the run ({reason}); publish from a "
            "clone with the whole history, a run that is not older than the catalogue"
        ) from error
    return yaml.safe_load(done.stdout) or {}
