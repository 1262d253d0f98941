"""Record ids: keyed hashes of the content, the same wherever a record occurs.

The key is a secret of the run: with a known key a reader of a report could test guesses about records.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb

from memaudit.common.errors import AuditError
from memaudit.data.duckdb_engine import identifier

BLOCK = 64


def make_key(path: str | Path, fixed: str | None = None) -> None:
    """Write a run's key, readable by its owner only: 32 random bytes, or the fixed public text of a demo."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32) if fixed is None else fixed.encode())


def read_key(path: str | Path) -> bytes:
    """Return the key of a run. Raises AuditError for a file that is empty or longer than one hash block."""
    key = Path(path).read_bytes()
    if not 0 < len(key) <= BLOCK:
        raise AuditError(f"{path}: a key has 1 to {BLOCK} bytes, not {len(key)}; delete it and a new one is made")
    return key


def use_key(connection: duckdb.DuckDBPyConnection, key: bytes, names: Sequence[str]) -> None:
    """Give the connection the two padded keys of HMAC (RFC 2104), as variables: no query text holds the key.

    The columns' names enter through the key, once and not with every row.
    """
    own = hmac.digest(key, json.dumps(sorted(names)).encode(), "sha256").ljust(BLOCK, b"\0")
    for name, mask in (("inner", 0x36), ("outer", 0x5C)):
        connection.execute(f"SET VARIABLE key_{name} = ?::BLOB", [bytes(byte ^ mask for byte in own)])


def keyed(message: str) -> str:
    """SQL of HMAC-SHA-256(key, message), truncated to 128 bits, as UUID: sixteen bytes that sort and group fast."""
    inner = f"unhex(sha256(getvariable('key_inner') || encode({message})))"
    return f"CAST(substr(sha256(getvariable('key_outer') || {inner}), 1, 32) AS UUID)"


def hexadecimal(uuid: str) -> str:
    """SQL of a keyed hash as 32 hexadecimal digits."""
    return f"replace(CAST({uuid} AS VARCHAR), '-', '')"


def message(columns: Iterable[str]) -> str:
    """SQL of a row's canonical text: its values in this order, each with its length in bytes.

    So ("a", "bc") and ("ab", "c"), and a missing value and an empty one, differ. Values are typed before: 1 and 1.0 of
    a numeric column are the same.
    """
    return f"concat({', '.join(_value(identifier(column)) for column in columns)})"


def _value(column: str) -> str:
    text = f"CAST({column} AS VARCHAR)"
    return f"CASE WHEN {column} IS NULL THEN '-' ELSE strlen({text}) || ':' || {text} END"
