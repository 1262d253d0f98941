"""Before the first job: packages are there, results can be written. After the last: nothing is left over.

Standard library only.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.machine_faults import disk_fault
from memaudit.common.project_paths import ENVS, SCRIPTS
from memaudit.workflow.feasibility import span

# Rules of these environments run in the Python that runs Snakemake, unless conda makes them one.
SHARED = ("data", "statistics", "tabular")
CLOCKS_DIFFER = 1.0  # seconds between clocks of two disks that do no harm
BLOCK = 4096  # bytes of a disk that an empty file does not need


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
    folder = _existing(results)
    below = [inside for inside, _, _ in os.walk(folder)] if folder == Path(results) else [folder]
    for inside in below:
        if not os.access(inside, os.R_OK | os.W_OK | os.X_OK):
            raise AuditError(f"{inside}: this user cannot write there; change its permissions or use another folder")


def check_times(results: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise AuditError if an input outside a folder of results was changed later than now.

    Snakemake fails every job with an input that is newer than its outputs.
    """
    folder, now = Path(results).absolute(), _now(results)
    for path in inputs:
        if not Path(path).absolute().is_relative_to(folder) and _changed(path) > now + CLOCKS_DIFFER:
            remedy = f"or run `touch {path}`" if os.access(path, os.W_OK) else "or let its owner run `touch` on it"
            raise AuditError(
                f"{path}: was changed {span(_changed(path) - now)} from now, by the clock of the disk of "
                f"{results}, and jobs that read it would fail; set the clock right, {remedy}"
            )


def set_times_back(results: str | Path) -> int:
    """Set files below a folder that were changed later than now to now; returns how many.

    A clock that was ahead, or an archive from elsewhere, leaves such files. No file that was as old as another becomes
    newer than it, so nothing is computed anew because of this. Raises AuditError for another user's file.
    """
    files = [os.path.join(inside, name) for inside, _, names in os.walk(results) for name in names]
    changed = {path: _changed(path) for path in files}
    now = _now(results)  # after the walk: what another run writes meanwhile is not from the future
    if max(changed.values(), default=0.0) <= now + CLOCKS_DIFFER:
        return 0
    # All of them: one that is left ahead, however little, would be newer than its result.
    ahead = [path for path, time in changed.items() if time > now]
    for path in ahead:
        try:
            os.utime(path, (now, now), follow_symlinks=False)
        except FileNotFoundError:  # another run has removed it since
            continue
        except OSError as error:
            raise AuditError(
                f"{path}: was changed {span(changed[path] - now)} from now, and this user cannot change that "
                f"({error.strerror}); let its owner run `touch` on it"
            ) from error
    return len(ahead)


def _now(results: str | Path) -> float:
    """Time of a file that is written now on the disk of a folder, whose server can have a clock of its own.

    Raises AuditError if none can be written.
    """
    folder = _existing(results)
    try:
        with tempfile.TemporaryFile(dir=folder) as made:
            os.write(made.fileno(), bytes(BLOCK))
            os.fsync(made.fileno())  # of a disk in the network, which says there that it is full
            return os.fstat(made.fileno()).st_mtime
    except OSError as error:
        raise AuditError(disk_fault(error, str(folder)) or f"{folder}: {error}") from error


def _changed(path: str | Path) -> float:
    """Time of the last change of a file; 0 without one."""
    try:
        return os.lstat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _existing(results: str | Path) -> Path:
    """A folder, or the nearest one above it that exists."""
    folder = Path(results)
    while not folder.exists():
        folder = folder.parent
    return folder


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
