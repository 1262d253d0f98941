"""Parts of a long job that survive its death: a rerun goes on where it stopped."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from memaudit.digest import sha256
from memaudit.io import replacing
from memaudit.sidecar import items


class Scratch:
    """A folder beside a job's output, named after all that the result depends on; one process writes at a time.

    A job whose params, inputs or code have changed gets another folder, so a stale part is never taken.
    Snakemake does not know the folder: it deletes declared outputs before a rerun, and only those.
    """

    def __init__(self, job: Any):
        identity = {
            "rule": job.rule,
            "wildcards": sorted(items(job.wildcards)),
            "params": sorted(items(job.params)),
            "inputs": [sha256(path) for path in job.input],
        }
        key = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self.folder = Path(job.output[0]).parent / f".scratch-{key}"

    def __enter__(self) -> "Scratch":
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self._is_the_folders():
                return self
            # The job that was waited for has finished and removed the folder, this lock with it.
            os.close(self._lock)

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None:
            shutil.rmtree(self.folder)
        os.close(self._lock)

    def part(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """The array called `name`: read if an earlier run has finished it, else computed and kept."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            with replacing(path) as temporary, open(temporary, "wb") as file:
                np.save(file, compute(), allow_pickle=False)
        return np.load(path, allow_pickle=False)

    def _is_the_folders(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._lock), os.stat(self.folder / "lock"))
        except FileNotFoundError:
            return False
