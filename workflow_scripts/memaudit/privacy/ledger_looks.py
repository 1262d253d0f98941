"""Lines of a ledger that charge nothing: runs that measured private contexts on a private table, for its owner.

What such a run shows may enter the settings of a later release, which its guarantee does not cover: the statement of
the release names these runs. The table is recognised by its fingerprint.
"""

import json
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.privacy.table_fingerprint import Fingerprint, is_same, read_fingerprint, write_fingerprint

LINES, PRINTS = "looks.jsonl", "looks"


def write_look(folder: Path, hashes: Fingerprint, what: str) -> None:
    """Append a line about a run to `looks.jsonl`, with the table's fingerprint; a repeated one is not written."""
    if any(known == what for known, _ in _lines(folder, hashes)):
        return
    line = {"id": secrets.token_hex(8), "time": datetime.now(UTC).isoformat(timespec="seconds"), "what": what}
    (folder / PRINTS).mkdir(mode=0o700, exist_ok=True)
    write_fingerprint(folder / PRINTS / f"{line['id']}.npy", hashes)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with open(os.open(folder / LINES, flags, 0o600), "ab") as file:
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def looks_at(folder: Path, hashes: Fingerprint) -> list[str]:
    """What was run on tables that share a tenth of the rows with this one, with its time, the earliest first.

    Raises AuditError for a line that cannot be read.
    """
    return [f"{what} ({time})" for what, time in _lines(folder, hashes)]


def _lines(folder: Path, hashes: Fingerprint) -> list[tuple[str, str]]:
    path, found = folder / LINES, []
    for number, text in enumerate(path.read_bytes().splitlines() if path.exists() else [], start=1):
        try:
            line = json.loads(text)
            place, entry = folder / PRINTS / f"{line['id']}.npy", (line["what"], line["time"])
        except (ValueError, TypeError, KeyError):
            raise AuditError(f"{path}, line {number}: cut off or damaged; complete the line, or remove it") from None
        if is_same(read_fingerprint(place), hashes):
            found.append(entry)
    return found
