"""One writer at a time in a folder that many machines see: a lease that its holder keeps renewing.

After a killed controller Snakemake submits a job again while the first still runs. The second waits until the first
has ended, or takes over where the first is gone: a process of this machine that no longer exists, or a holder whose
file did not change while the second watched. No two clocks are compared, and no cached file time is trusted.
"""

import errno
import os
import secrets
import socket
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json

BEAT = 2.0  # seconds between two signs of life
SILENCE = 120.0  # seconds without one after which a holder counts as gone


class OvertakenError(Exception):
    """Another writer holds the folder; its name is the message."""


class Lease:
    """Files writer-0.json, writer-1.json, ... in the folder; the highest number holds it.

    A number is made once and never removed, so of several that take over at the same moment one gets the next number.
    Together the files are the journal of the folder: who wrote in it, under which Slurm id, from when to when.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.number = -1

    def __enter__(self) -> "Lease":
        self.folder.mkdir(parents=True, exist_ok=True)
        while not self._take(self._await_turn()):
            pass
        self._stop, self._fault = threading.Event(), None
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        if not self._fault:
            self._write(ended=_now())

    def check(self) -> None:
        """Raise OvertakenError if another writer holds the folder: this one was silent for too long."""
        if self._fault:
            raise self._fault
        if (latest := _numbers(self.folder)[-1]) != self.number:
            raise OvertakenError(_name(read_json(_file(self.folder, latest))))

    def claim(self, draft: Path, path: Path) -> None:
        """Give a file its name unless another writer has been faster: then raise OvertakenError."""
        if not _link(draft, path):
            raise OvertakenError(_name(read_json(_file(self.folder, _numbers(self.folder)[-1]))))

    def journal(self) -> list[dict[str, Any]]:
        """`journal` of the folder, where this writer ends now."""
        return [
            writer | ({"ended": _now()} if number == self.number else {})
            for number, writer in enumerate(journal(self.folder))
        ]

    def _await_turn(self) -> int:
        """The number to take, as soon as nobody holds the folder."""
        watched, since = None, time.monotonic()
        while numbers := _numbers(self.folder):
            holder = read_json(_file(self.folder, numbers[-1]))
            if holder["ended"] or _is_gone(holder):
                break
            if holder != watched:
                if watched is None:
                    print(f"waiting for {_name(holder)}, which writes in {self.folder}")
                watched, since = holder, time.monotonic()
            elif time.monotonic() - since > SILENCE:
                break
            time.sleep(BEAT / 4)
        return numbers[-1] + 1 if numbers else 0

    def _take(self, number: int) -> bool:
        self.number = number
        self._writer = {
            "host": socket.gethostname(),
            "processes": _process_space(),
            "pid": os.getpid(),
            "slurm_job": os.environ.get("SLURM_JOB_ID"),
            "started": _now(),
        }
        draft = self.folder / f".{secrets.token_hex(4)}.json"
        self._write(draft, ended=None)
        return _link(draft, _file(self.folder, number))

    def _renew(self) -> None:
        while not self._stop.wait(BEAT):
            try:
                self._write(ended=None)
            except OSError as error:
                self._fault = error
                return

    def _write(self, path: Path | None = None, *, ended: str | None) -> None:
        write_json(self._writer | {"seen": _now(), "ended": ended}, path or _file(self.folder, self.number))


def journal(folder: Path) -> list[dict[str, Any]]:
    """All writers that a folder has had, in order; `ended` is None for one that was killed, last `seen` alive."""
    return [read_json(_file(folder, number)) for number in _numbers(folder)]


def _link(draft: Path, path: Path) -> bool:
    """Rename a file unless the name is taken, in one step that two machines cannot both make."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}:
            raise
        raise AuditError(
            f"{path.parent}: this file system knows no hard links, which keep two jobs apart; "
            "work on another one with `snakemake --directory`"
        ) from error
    finally:
        draft.unlink()
    return True


def _numbers(folder: Path) -> list[int]:
    return sorted(int(path.stem.removeprefix("writer-")) for path in folder.glob("writer-*.json"))


def _file(folder: Path, number: int) -> Path:
    return folder / f"writer-{number}.json"


def _is_gone(holder: dict[str, Any]) -> bool:
    if (holder["host"], holder["processes"]) != (socket.gethostname(), _process_space()):
        return False
    try:
        os.kill(holder["pid"], 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False


def _process_space() -> str | None:
    """What a process id is unique in: containers of one host name have several such spaces."""
    link = Path("/proc/self/ns/pid")
    return os.readlink(link) if link.is_symlink() else None


def _name(writer: dict[str, Any]) -> str:
    job = f", Slurm job {writer['slurm_job']}" if writer["slurm_job"] else ""
    return f"process {writer['pid']} on {writer['host']}{job}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
