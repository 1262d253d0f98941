"""Keyed fingerprints of a private table's rows, by which a ledger recognises the table under another name.

Without the key, nobody can test whether a guessed row is in a fingerprint; the key stays beside the ledger.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.common.errors import AuditError

SAME = 0.1  # two tables are one if at least this share of the smaller one's different rows is in both
KEY_BYTES = 32
Fingerprint = NDArray[np.uint64]


def identity(rows: Iterable[str]) -> str:
    """sha256 of the content of a table, given as one text per row, independent of the order of the rows."""
    hashes = sorted(hashlib.sha256(row.encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()


def fingerprint(rows: Iterable[str], key: bytes) -> Fingerprint:
    """Sorted, different keyed hashes (HMAC-SHA-256, 64 bits) of a table's rows: (different rows,)."""
    hashes = b"".join(hmac.digest(key, row.encode(), "sha256")[:8] for row in rows)
    return np.unique(np.frombuffer(hashes, np.uint64))


def is_same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether two tables share at least `SAME` of the different rows of the smaller one; false for an empty table."""
    fewer = min(len(one), len(other))
    return fewer > 0 and len(np.intersect1d(one, other, assume_unique=True)) >= SAME * fewer


def new_key(path: Path) -> bytes:
    """Write a random key, readable by its owner alone, and return it."""
    key = secrets.token_bytes(KEY_BYTES)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key


def read_key(path: Path) -> bytes:
    """The key of a ledger. Raises AuditError for one that is missing or damaged."""
    key = path.read_bytes() if path.exists() else b""
    if len(key) != KEY_BYTES:
        raise AuditError(
            f"{path}: {'damaged' if key else 'missing'}, and without it no table is recognised; take it from a backup "
            "of the ledger; nothing is released until then"
        )
    return key


def write_fingerprint(path: Path, hashes: Fingerprint) -> None:
    """Write a fingerprint and wait until it is on disk."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        np.save(file, hashes, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def read_fingerprint(path: Path) -> Fingerprint:
    """A fingerprint as written. Raises AuditError for a file that is damaged."""
    try:
        hashes = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise AuditError(f"{path}: cannot be read ({error}); take it from a backup of the ledger") from None
    if hashes.dtype != np.uint64 or hashes.ndim != 1:
        raise AuditError(f"{path}: is no fingerprint of a table; take it from a backup of the ledger")
    return hashes
