"""Hashes of files, folders and arrays. Standard library only: the Snakefile imports it."""

import hashlib
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError

TIMESTAMP = ".snakemake_timestamp"


def sha256(path: str | Path) -> str:
    """Hash of a file's bytes, read in blocks; of a folder, of the names and hashes of all files in it."""
    if Path(path).is_dir():
        lines = (f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n" for file in files_of(path))
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def array_hash(*arrays: Any) -> bytes:
    """Hash of the shapes, types and values of NumPy arrays: 16 bytes, to find equal arrays within a process."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        digest.update(array.tobytes())
    return digest.digest()


def check_sum(path: str | Path, expected: str | None, where: str) -> None:
    """Raise AuditError if a file's or folder's hash is not the expected one; None expects nothing."""
    if expected and (found := sha256(path)) != expected:
        raise AuditError(f"{where}: sha256 of {path} is {found}, the config says {expected}; fetch it again")


def files_of(path: str | Path) -> list[Path]:
    """The path itself, or all files of a folder, without the one with which Snakemake marks a folder as made."""
    if not Path(path).is_dir():
        return [Path(path)]
    return sorted(file for file in Path(path).rglob("*") if file.is_file() and file.name != TIMESTAMP)
