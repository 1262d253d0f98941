"""What a heavy job leaves beside its result: the hashes, code and circumstances that made it."""

import os
import platform
import resource
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memaudit.common.checksums import files_of, sha256
from memaudit.common.io import read_json, write_json
from memaudit.common.loaded_packages import Packages, loaded_packages, noted_elsewhere
from memaudit.common.project_paths import PROJECT

FORKED = "MEMAUDIT_FORKED"  # environment variable of jobs that are forked from a warm interpreter


class Stopwatch:
    """Start, wall seconds and CPU seconds of a job."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._wall = time.monotonic()

    def read(self) -> dict[str, Any]:
        usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "wall_seconds": round(time.monotonic() - self._wall, 3),
            "cpu_seconds": round(sum(part.ru_utime + part.ru_stime for part in usage), 3),
            "peak_memory_mib": round(max(part.ru_maxrss for part in usage) / 1024),
        }


def write(path: str, script: str, job: Any, facts: dict[str, Any], watch: Stopwatch) -> None:
    """Write the sidecar of a finished job: its script's name, Snakemake's job object, facts its main returned, its
    stopwatch. Rules are called by their scripts, of which views have one for several rules.

    Facts named `outputs` are the hashes of the outputs: of a job that was submitted twice they may be gone already.
    """
    made = facts.pop("outputs", None) or _hashes(name for name in job.output if str(name) != str(path))
    write_json(
        {
            "rule": script,
            "wildcards": dict(items(job.wildcards)),
            "inputs": {_relative(name): hashed for name, hashed in _hashes(job.input).items()},
            "outputs": {_relative(name): hashed for name, hashed in made.items()},
            "params": {name: value for name, value in items(job.params) if name != "code"},
            "code": dict(items(job.params)).get("code"),
            "git": git_state(),
            "platform": platform.platform(),
            "python": platform.python_version(),
            "packages": loaded_packages(),
            **other_environments(),
            "modules": sorted(name for name in sys.modules if name.split(".")[0] == "memaudit"),
            "slurm_job": os.environ.get("SLURM_JOB_ID"),
            "forked": FORKED in os.environ,
            **facts,
            **watch.read(),
        },
        path,
    )


def _hashes(paths: Iterable[str]) -> dict[str, str]:
    """Hash of every file, also of those in folders."""
    return {str(file): sha256(file) for path in paths for file in files_of(path)}


def project_version() -> str:
    """Version of the project, as its pyproject.toml states it."""
    return tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def versions() -> dict[str, str]:
    """Version of the project, and its commit where there is a repository, with a remark where files differ from it."""
    state = git_state()
    if not state:
        return {"memaudit": project_version()}
    changed = " with uncommitted changes" if state["dirty"] else ""
    return {"memaudit": project_version(), "commit": state["commit"] + changed}


def git_state() -> dict[str, Any] | None:
    """Commit of the project and whether its files differ from it; None where there is no repository.

    Files that git does not know, like a user's table and config, are no part of the project.
    """
    if not (PROJECT / ".git").exists():
        return None
    commit = _git("rev-parse", "HEAD")
    return {"commit": commit, "dirty": bool(_git("status", "--porcelain", "--untracked-files=no"))} if commit else None


def read_all(folder: str | Path) -> dict[str, dict[str, Any]]:
    """All sidecars below a folder, by path."""
    return {str(path): read_json(path) for path in sorted(Path(folder).rglob("*.json"))}


def _relative(path: str) -> str:
    """A path as it stands on another machine too: from the folder that holds `results`."""
    return os.path.relpath(path)


def _git(*arguments: str) -> str | None:
    if shutil.which("git") is None:
        return None
    done = subprocess.run(["git", "-C", str(PROJECT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def items(params: Any) -> list[tuple[str, Any]]:
    """Names and values of a job's params or wildcards, under Snakemake or from the command line."""
    return list(params.items() if hasattr(params, "items") else vars(params).items())


def other_environments() -> dict[str, dict[str, Packages]]:
    """The fact on the packages of other environments in which this job has used a model; none where it has not."""
    noted = noted_elsewhere()
    return {"other_environments": noted} if noted else {}
