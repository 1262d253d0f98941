"""Before the first job: packages are there, results can be written. After the last: nothing is left over.

Standard library only.
"""

import json
import os
import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import ENVS, SCRIPTS

# Rules of these environments run in the Python that runs Snakemake, unless conda makes them one.
SHARED = ("data", "statistics", "tabular")


def pass_on_library() -> None:
    """Let every process that is started from here import this very memaudit, whichever is installed there."""
    paths = [str(SCRIPTS), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


def check_packages() -> None:
    """Raise AuditError if this Python lacks a package that a shared environment pins, in whatever version."""
    files = [ENVS / f"{family}.yaml" for family in SHARED]
    pinned = {name for file in files for name in re.findall(r"- ([\w.-]+)==", file.read_text(encoding="utf-8"))}
    if missing := sorted(name for name in pinned if not _is_installed(name)):
        raise AuditError(
            f"environment {sys.prefix}: lacks {', '.join(missing)}; "
            "install there what requirements.lock names, or let `rm -rf .venv && make .venv` do it"
        )


def check_folder(results: str | Path) -> None:
    """Raise AuditError if nothing can be written in a folder or in one below it; where there is none yet, above it."""
    folder = Path(results)
    while not folder.exists():
        folder = folder.parent
    below = [inside for inside, _, _ in os.walk(folder)] if folder == Path(results) else [folder]
    for inside in below:
        if not os.access(inside, os.R_OK | os.W_OK | os.X_OK):
            raise AuditError(f"{inside}: this user cannot write there; change its permissions or use another folder")


def sweep(results: str | Path) -> None:
    """Remove the scratch folders of finished jobs below a folder: Snakemake has recorded their outputs."""
    for finished in Path(results).rglob(".scratch-*/finished.json"):
        writers = [json.loads(path.read_text(encoding="utf-8")) for path in finished.parent.glob("writer-*.json")]
        # One that outlived a killed Snakemake has yet to write its sidecar.
        if all(writer["ended"] for writer in writers if writer["seen"] == max(one["seen"] for one in writers)):
            shutil.rmtree(finished.parent)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
