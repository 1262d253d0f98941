"""The private working folder of an audit: created, locked, checked for links, and its disk's faults in one line."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.machine_faults import disk_fault, is_out_of_memory

MARK = ".memaudit"
READING = "table/.read-*"  # where an intake reads the user's files; a killed one leaves it
IGNORED = b"*\n"


@contextlib.contextmanager
def private(folder: Path) -> Iterator[int]:
    """Create the folder and lock it; yield the lock's descriptor. Only the owner can read what the block writes.

    Raises AuditError for a folder that holds something else, or links, or where another audit is running.
    """
    before, name = os.umask(0o077), repr(str(folder))
    try:
        try:
            lock = _made(folder, name)
        except OSError as error:
            raise AuditError(f"{name}: cannot be written ({error.strerror}); give another one with --into") from None
        try:
            _lock(lock, name)
            for left in folder.glob(READING):
                left.unlink() if left.is_symlink() or not left.is_dir() else shutil.rmtree(left)
            yield lock
        finally:
            os.close(lock)
    finally:
        os.umask(before)


def _made(folder: Path, name: str) -> int:
    """Descriptor of the mark in the folder, which is created."""
    if folder.exists() and not folder.is_dir():
        raise AuditError(f"{name}: is a file; give another folder with --into")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise AuditError(f"{name}: holds something else than an audit; give another one with --into")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_links(folder)
    folder.chmod(0o700)
    lock = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    # The copy of the table must not be committed with the folder that it stands in.
    with open(
        os.open(folder / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb"
    ) as file:
        file.write(IGNORED)
    return lock


def _refuse_links(folder: Path) -> None:
    """Raise AuditError for a link that would lead what the audit writes out of a folder that somebody else prepared."""
    inside = folder.resolve()
    for path in folder.rglob("*"):
        # Links to the user's files are only read; environments of conda hold links of their own.
        read = any(parent.match(READING) for parent in (path.parent, path.parent.parent))
        ours = path.match("source.*") and (read or path.parent == folder / "table")
        ours = ours or folder / ".snakemake/conda" in path.parents
        if path.is_symlink() and not ours and not path.resolve().is_relative_to(inside):
            raise AuditError(
                f"{str(path)!r}: is a link out of the audit's folder, where the audit would write; remove it, or give "
                "another folder with --into"
            )


def _lock(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AuditError(f"{name}: another audit is running there; wait for it, or give another --into") from None


@contextlib.contextmanager
def in_one_line(folder: Path) -> Iterator[None]:
    """Raise AuditError, one line with place and remedy, for a fault of the machine such as a full disk."""
    try:
        yield
    except AuditError:
        raise
    except Exception as error:
        name = repr(str(folder))
        if is_out_of_memory(error):
            raise AuditError(
                f"{name}: out of memory; read fewer rows with --rows, or leave columns out with --drop"
            ) from error
        if line := disk_fault(error, name):
            raise AuditError(line) from error
        raise
