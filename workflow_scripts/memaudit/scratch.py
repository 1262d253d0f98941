"""Parts of a long job that survive its death: a rerun goes on where it stopped, or takes what another has finished."""

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.digest import code, sha256
from memaudit.io import read_json, readable, replacing, write_json
from memaudit.lease import Lease, journal
from memaudit.sidecar import items


class Scratch:
    """A folder beside a job's output, named after all that the result depends on; one process writes at a time.

    A job whose params, inputs or code have changed gets another folder, so a stale part is never taken.
    Snakemake does not know the folder: it deletes declared outputs before a rerun, and only those.
    """

    def __init__(self, job: Any):
        self.folder = Path(job.output[0]).parent / f".scratch-{_key(job)}"
        self.lease = Lease(self.folder)

    def part(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """The array called `name`: read if an earlier run has finished it, else computed and kept."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            array = compute()
            self.lease.check()
            with replacing(path) as temporary, open(temporary, "wb") as file:
                np.save(file, array, allow_pickle=False)
        with readable(path):
            return np.load(path, allow_pickle=False)

    def keep(self, outputs: list[str], facts: dict[str, Any]) -> None:
        """Leave copies of finished outputs in the place of their parts, for a job that waits for the same result."""
        self.lease.check()
        for path, copy in self._copies(outputs):
            shutil.copyfile(path, copy)
        hashes = [sha256(copy) for _, copy in self._copies(outputs)]
        write_json({"sha256": hashes, "facts": facts}, self.folder / "finished.json")
        for part in self.folder.glob("*.npy"):
            part.unlink()

    def adopt(self, outputs: list[str]) -> dict[str, Any] | None:
        """Take the outputs that another job has finished, and return its facts; None if there are none, or damaged."""
        if not (self.folder / "finished.json").exists():
            return None
        finished = read_json(self.folder / "finished.json")
        if [sha256(copy) for _, copy in self._copies(outputs)] != finished["sha256"]:
            return None
        for path, copy in self._copies(outputs):
            with replacing(path) as temporary:
                shutil.copyfile(copy, temporary)
        return finished["facts"]

    def _copies(self, outputs: list[str]) -> list[tuple[str, Path]]:
        return [(path, self.folder / f"finished-{i}") for i, path in enumerate(outputs)]


def resumable(main: Callable[[Any, Scratch], dict[str, Any] | None]) -> Callable[[Any], dict[str, Any]]:
    """main(job) of a long job, from main(job, scratch): it waits for another writer of the same result.

    Facts for the sidecar gain `writers`, the journal of all that have written: host, pid, Slurm id, start and end.
    """

    @wraps(main)
    def wrapped(job: Any) -> dict[str, Any]:
        scratch = Scratch(job)
        outputs = [path for path in job.output if path != job.output.get("sidecar")]
        with scratch.lease:
            facts = scratch.adopt(outputs)
            if facts is None:
                facts = main(job, scratch) or {}
                scratch.keep(outputs, facts)
        return facts | {"writers": journal(scratch.folder)}

    return wrapped


def _key(job: Any) -> str:
    identity = {
        "rule": job.rule,
        "wildcards": sorted(items(job.wildcards)),
        "params": sorted(items(job.params)),
        # By hand nobody gives the digest of the code.
        "code": code(job.rule),
        "inputs": [sha256(path) for path in job.input],
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:16]
