"""What the jobs that charge a private table share: the table as it is read, its ledger, and the files that are kept."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, replacing
from memaudit.common.project_paths import PROJECT
from memaudit.data.column_schema import to_drop
from memaudit.privacy.ledger import RELEASED, Ledger, default_folder
from memaudit.privacy.private_table_reader import RawTable, read_raw


def reading(files: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """How a job reads its private table: its entry of the catalogue with what the source decides (`read_raw`)."""
    raw = read_json(files.facts)
    known = {"typed": raw["typed"], "target": entry["target"] or raw["target"], "drop": to_drop(entry, raw)}
    # Tables of other sources are written by programs: no study reads them by the notation of an entry.
    return {**entry, **known, "decimal": entry.get("decimal") if raw["own"] else None}


def private_table(files: Any, entry: Mapping[str, Any], threads: int) -> RawTable:
    """The private table of a job. files: its inputs table, facts and public; entry: of the catalogue."""
    return read_raw(files.table, files.public, reading(files, entry), threads)


def ledger_of(folder: str | None, results: Path) -> Ledger:
    """The ledger in a folder (None: of the user); it must have the charge of all that was released to the results."""
    ledger = Ledger(folder or default_folder(PROJECT))
    statements = [*results.glob(f"*/release/*/{RELEASED}"), *results.glob(f"*/release_bounds/*/{RELEASED}")]
    ledger.require({read_json(path)["ledger"]["charge"] for path in statements}, results)
    return ledger


def refuse_existing(outputs: Sequence[str]) -> None:
    """Raise AuditError where one of the files exists: to make it again would spend again."""
    if existing := [path for path in outputs if Path(path).exists()]:
        raise AuditError(f"{existing[0]}: exists, and another release spends again; move it away to release again")


def copy_kept(folder: Path, outputs: Sequence[str]) -> None:
    """Copy files of a charge from beside the ledger to the results, under the same names."""
    for path in outputs:
        with replacing(path) as temporary:
            shutil.copyfile(folder / Path(path).name, temporary)
