"""Parts of a long job that survive its death: a rerun goes on where it stopped, or takes what another has finished."""

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from memaudit.common.checksums import sha256
from memaudit.common.io import read_json, readable, replacing, write_json
from memaudit.workflow.digest import code
from memaudit.workflow.lease import Lease, OvertakenError
from memaudit.workflow.sidecar import items, other_environments


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

    def finish(self, staged: list[Path], facts: dict[str, Any]) -> None:
        """Declare what was written in the staging folder to be the result; the first to do so settles it."""
        self.lease.check()
        places = [str(path.relative_to(self.folder)) for path in staged]
        record = {"outputs": places, "sha256": [sha256(path) for path in staged], "facts": facts}
        draft = self.folder / f"finished-{self.lease.number}.json"
        write_json(record, draft)
        self.lease.claim(draft, self.folder / "finished.json")
        # Of a target of 7e9 weights the arrays take 44 GB, a state 110.
        for part in (*self.folder.rglob("*.npy"), *self.folder.rglob("*.state")):
            if not part.relative_to(self.folder).parts[0].startswith("output-"):
                part.unlink()

    def publish(self, outputs: list[str]) -> dict[str, Any] | None:
        """Copy the result to a job's declared outputs and return its facts; None if there is none, or a damaged one."""
        if not (self.folder / "finished.json").exists():
            return None
        finished = read_json(self.folder / "finished.json")
        places = [self.folder / place for place in finished["outputs"]]
        if [place.exists() and sha256(place) for place in places] != finished["sha256"]:
            (self.folder / "finished.json").unlink()
            return None
        for path, place in zip(outputs, places, strict=True):
            with replacing(path) as temporary:
                shutil.copyfile(place, temporary)
        return finished["facts"] | {"outputs": dict(zip(outputs, finished["sha256"], strict=True))}

    def stage(self, outputs: list[str]) -> list[Path]:
        """Where this writer, and no other, writes its outputs."""
        return [
            self.folder / f"output-{self.lease.number}" / f"{i}-{Path(path).name}" for i, path in enumerate(outputs)
        ]


class Staged:
    """A job whose outputs go to the scratch folder, by position: what is published is published once, by one writer."""

    def __init__(self, job: Any, output: list[Path]):
        self._job, self.output = job, [str(path) for path in output]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)


def resumable(main: Callable[[Any, Scratch], dict[str, Any] | None]) -> Callable[[Any], dict[str, Any]]:
    """main(job) of a long job, from main(job, scratch): it waits for another writer of the same result and takes it.

    Facts for the sidecar gain `writers`, the journal of all that have written (host, pid, Slurm id, start and end), and
    `adopted`: whether the result is another's. The lease is kept until job.until_recorded (an ExitStack, where the job
    has one) is closed, so that a sidecar is that of the last writer. A job that was taken for dead and replaced waits
    in its turn: failing, its Snakemake would remove what the other has published.
    """

    @wraps(main)
    def wrapped(job: Any) -> dict[str, Any]:
        scratch = Scratch(job)
        while True:
            try:
                with ExitStack() as lease:
                    lease.enter_context(scratch.lease)
                    facts = _result(main, job, scratch) | {"writers": scratch.lease.journal()}
                    if recorded := getattr(job, "until_recorded", None):
                        recorded.push(lease.pop_all())
                    return facts
            except OvertakenError as other:
                print(f"{scratch.folder}: {other} has taken over this job, which was silent for too long")

    return wrapped


def _result(main: Callable[[Any, Scratch], dict[str, Any] | None], job: Any, scratch: Scratch) -> dict[str, Any]:
    outputs = [path for path in job.output if path != job.output.get("sidecar")]
    if facts := scratch.publish(outputs):
        return facts | {"adopted": True}
    staged = scratch.stage(outputs)
    facts = main(Staged(job, staged), scratch) or {}
    # Of the process that has computed the result, which may be another one than the one that records it.
    scratch.finish(staged, facts | other_environments())
    return scratch.publish(outputs) | {"adopted": False}


def _key(job: Any) -> str:
    rule = getattr(job, "script_rule", job.rule)
    identity = {
        "rule": rule,
        "wildcards": sorted(items(job.wildcards)),
        "params": sorted(items(job.params)),
        # The digest among the params is of the files as they were planned, this one of those that run.
        "code": code(rule),
        "inputs": [sha256(path) for path in job.input],
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:16]
