"""Ledger of the privacy budget spent on each private table: an append-only file, charged before noise is drawn.

The file is outside `results/` and outside the project, so that neither a run of another name, nor a second clone, nor
Snakemake, which deletes outputs before it makes them again, restores the budget of a table. A crash can waste budget
but never exceed it.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from memaudit.common.errors import AuditError
from memaudit.privacy import ledger_looks
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost, added, fits
from memaudit.privacy.discrete_noise import Noise
from memaudit.privacy.ledger_lines import Charge, PrivateTable, is_amount, parsed
from memaudit.privacy.table_fingerprint import (
    Fingerprint,
    fingerprint,
    is_same,
    new_key,
    read_fingerprint,
    read_key,
    write_fingerprint,
)

IGNORED = ".gitignore"
KEY = "key"  # of the fingerprints
PLACE = "place"  # where the ledger was when it was last charged: a copy elsewhere is refused
LOOKS = (ledger_looks.LINES, ledger_looks.PRINTS)
FINGERPRINT = "table.npy"  # in the folder of a charge
RELEASED = "statement.json"  # written last into the folder of a charge: marks a complete release


def user_folder() -> Path:
    """`memaudit/ledger` in the XDG state folder of this user."""
    given = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is to be ignored (XDG Base Directory Specification 0.8).
    state = Path(given) if given.startswith("/") else Path.home() / ".local/state"
    return state / "memaudit" / "ledger"


def default_folder(project: str | Path) -> Path:
    """The ledger of this user, for all clones of the project: `memaudit/ledger` in the XDG state folder.

    Raises AuditError where an older version has left a ledger in the project's own folder.
    """
    folder, former = user_folder(), Path(project) / "ledger"
    if (former / "ledger.jsonl").exists():
        raise AuditError(
            f"{former}: is a ledger of an earlier version, which is now kept in {folder}; move the folder there, or "
            "name it in release/ledger"
        )
    return folder


class Ledger:
    """The file `ledger.jsonl` in a folder readable by its owner alone, with a folder for each charge beside it.

    Charges of one table share its name, its content, or a tenth of the rows of the smaller of two tables, directly or
    through other charges: a new name, another run, changed rows or a part of the table give no new budget.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.path = self.folder / "ledger.jsonl"

    def history(self, table: PrivateTable) -> list[Charge]:
        """Charges of a table so far, the earliest first. Raises AuditError for a ledger that cannot be read."""
        if not self.path.exists():
            return []
        with self._locked() as file:
            return self._of_table(self._read(file), table, self._hashes(table))

    def check(self, table: PrivateTable, cost: Cost, total: Budget) -> None:
        """Raise the AuditError of `charge` without charging: for a check before hours of computation."""
        with self._locked() as file:
            self._refuse(self._read(file), table, self._hashes(table), cost, total)

    def charge(self, table: PrivateTable, cost: Cost, total: Budget, purpose: str, unit: str) -> Charge:
        """Charge a table and return once the line is on disk; only then may noise be drawn.

        Raises AuditError "budget spent ..." if the charges of the table would exceed its total, and for a ledger that
        cannot be read. A file lock serialises concurrent processes.
        """
        with self._locked() as file:
            hashes = self._hashes(table)
            self._refuse(self._read(file), table, hashes, cost, total)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            what = (table.name, table.identity, cost.budget, total, purpose, unit, cost.guarantee, len(hashes))
            charge = Charge(secrets.token_hex(8), now, *what)
            # The folder first: a line whose folder is missing would stop every later release.
            self.place(charge).mkdir(mode=0o700)
            write_fingerprint(self.place(charge) / FINGERPRINT, hashes)
            for folder in (self.place(charge), self.folder):
                _sync(folder)
            file.write(json.dumps(asdict(charge), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        for folder in (self.folder, self.folder.parent):
            _sync(folder)
        return charge

    def note(self, table: PrivateTable, what: str) -> None:
        """Write down that private contexts of a table were measured on it. Nothing is charged."""
        with self._locked():
            ledger_looks.write_look(self.folder, self._hashes(table), what)

    def looks(self, table: PrivateTable) -> list[str]:
        """Runs that `note` wrote down about the table, here or in the ledger of the user.

        An audit knows no config, and writes to the latter wherever releases are charged.
        """
        with self._locked():
            found = ledger_looks.looks_at(self.folder, self._hashes(table))
        of_user = Ledger(user_folder())
        if not of_user.path.exists() or of_user.path.samefile(self.path):
            return found
        return found + of_user.looks(table)

    def place(self, charge: Charge) -> Path:
        """Folder of a charge, with the table's fingerprint and a copy of what was released."""
        return self.folder / charge.id

    def require(self, ids: Collection[str], where: str) -> None:
        """Raise AuditError unless the ledger has charges of these ids: of releases that stand in `where`."""
        if not ids:
            return
        with self._locked() as file:
            if missing := set(ids) - {charge.id for charge in self._read(file)}:
                raise AuditError(
                    f"{self.path}: has no line of charge {min(missing)}, which paid for a release in {where}: this is "
                    "not the ledger that was charged; name that one in release/ledger, or move releases of others away"
                )

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, locked for this process until the block ends, at its start; writes are appended."""
        self._prepare()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with open(os.open(self.path, flags, 0o600), "r+b") as file:
            os.fchmod(file.fileno(), 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                raise AuditError(
                    f"{self.path}: cannot be locked ({error.strerror}), and two runs could spend the same budget; "
                    "keep the ledger on a disk that has locks (config key release/ledger)"
                ) from error
            yield file

    def _prepare(self) -> None:
        """Make the folder. Raises AuditError for one with other files but no ledger: lost, or the wrong folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # The key is made beside a file: one that is alone shows that the file was lost.
        others = {path.name for path in self.folder.iterdir()} - {IGNORED, PLACE}
        if others and not self.path.exists():
            raise AuditError(
                f"{self.folder}: has files but no {self.path.name}; if it was lost, take it from a backup, for without "
                "it the spent budget is unknown; else name an empty folder in release/ledger"
            )
        self.folder.chmod(0o700)
        # A git repository around the folder must not track it.
        (self.folder / IGNORED).write_text("*\n", encoding="utf-8")
        self._refuse_copy()

    def _refuse_copy(self) -> None:
        """Record where the ledger is. Raises AuditError for a copy: both would spend the same budget."""
        note, here = self.folder / PLACE, self.folder.resolve()
        if note.exists() and (there := Path(note.read_text(encoding="utf-8"))) != here:
            original = there / self.path.name
            if original.exists() and not (self.path.exists() and original.samefile(self.path)):
                raise AuditError(
                    f"{self.folder}: is a copy of the ledger in {there}, and both would spend the same budget; name "
                    "that one in release/ledger"
                )
        note.write_text(str(here), encoding="utf-8")

    def _hashes(self, table: PrivateTable) -> Fingerprint:
        """Fingerprint of a table. The key is made with the first fingerprint, and must not be lost later."""
        path = self.folder / KEY
        prints = [*self.folder.glob(f"*/{FINGERPRINT}"), *self.folder.glob(f"{ledger_looks.PRINTS}/*")]
        first = not path.exists() and not prints
        return fingerprint(table.rows, new_key(path) if first else read_key(path))

    def _read(self, file: BinaryIO) -> list[Charge]:
        """All charges. A truncated line may belong to any table: until it is repaired, no table is charged."""
        *lines, rest = file.read().split(b"\n")
        charges = []
        for number, line in enumerate([*lines, *([rest] if rest else [])], start=1):
            charge = parsed(line)
            if charge is None or number > len(lines):
                raise AuditError(
                    f"{self.path}, line {number}: cut off or damaged, so that the spent budget is unknown; take the "
                    "file from a backup, or see *After a crash* in docs/release.md; nothing is released until then"
                )
            charges.append(charge)
        self._compare_with_folders(charges)
        return charges

    def _compare_with_folders(self, charges: Sequence[Charge]) -> None:
        """Raise AuditError unless each folder has its line, and each line (but of earlier versions) its folder."""
        folders = {path.name for path in self.folder.iterdir()} - {IGNORED, KEY, PLACE, *LOOKS, self.path.name}
        if extra := folders - {charge.id for charge in charges}:
            raise AuditError(
                f"{self.path}: has no line for the folder {min(extra)} beside it, so that the spent budget is unknown; "
                "take the file from a backup, or see *After a crash* in docs/release.md; nothing is released until then"
            )
        for number, charge in enumerate(charges, start=1):
            if charge.rows is not None and not (self.place(charge) / FINGERPRINT).exists():
                raise AuditError(
                    f"{self.path}, line {number}: {charge.id}/{FINGERPRINT} is missing beside it, and without it the "
                    "table is not recognised; take the folder from a backup; nothing is released until then"
                )

    def _refuse(self, charges: list[Charge], table: PrivateTable, hashes: Fingerprint, cost: Cost, total: Budget):
        for key, requested in (("budget", cost.budget), ("total", total)):
            if not is_amount(requested):
                raise AuditError(
                    f"release: {key} {_as_text(requested)} is invalid; epsilon must be positive, delta in [0, 1)"
                )
        own = self._of_table(charges, table, hashes)
        if fits([*(charge.cost for charge in own), cost], total):
            return
        spent = added(charge.budget for charge in own)
        places = [self.place(charge) for charge in own if (self.place(charge) / RELEASED).exists()]
        kept = f"its releases are kept in {', '.join(map(str, places))}"
        lost = "no release is kept, because a run ended after its charge; its budget is spent"
        others = sorted({charge.name for charge in own} - {table.name})
        known = f" (also as {', '.join(others)}: a tenth of the rows, or all, are the same)" if others else ""
        raise AuditError(
            f"budget spent: table {table.name} has been charged {_as_text(spent)}{known} in "
            f"{self.path}, and {_as_text(cost.budget)} more would exceed its total {_as_text(total)}; "
            f"{kept if places else lost if own else 'use a smaller budget'}"
        )

    def _of_table(self, charges: Sequence[Charge], table: PrivateTable, hashes: Fingerprint) -> list[Charge]:
        """Charges that share name, content or rows with the table, directly or through other charges."""
        names, identities, prints = {table.name}, {table.identity}, [hashes]
        found: set[str] = set()
        while more := [one for one in charges if one.id not in found and self._shares(one, names, identities, prints)]:
            found |= {charge.id for charge in more}
            names |= {charge.name for charge in more}
            identities |= {charge.identity for charge in more}
            prints += [self._fingerprint(charge) for charge in more if charge.rows is not None]
        return [charge for charge in charges if charge.id in found]

    def _shares(self, charge: Charge, names: set[str], identities: set[str], prints: Sequence[Fingerprint]) -> bool:
        if charge.name in names or charge.identity in identities:
            return True
        return charge.rows is not None and any(is_same(self._fingerprint(charge), one) for one in prints)

    def _fingerprint(self, charge: Charge) -> Fingerprint:
        return read_fingerprint(self.place(charge) / FINGERPRINT)


class Paid:
    """Noise whose first draw charges the ledger; where the charge is refused, no noise is drawn.

    Steps before the first draw, such as hours of teacher queries, can fail without any cost.
    """

    def __init__(self, noise: Noise, pay: Callable[[], Charge]):
        self._noise, self._pay = noise, pay
        self.charge: Charge | None = None

    def __call__(self, center: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        if self.charge is None:
            self.charge = self._pay()
        return self._noise(center, sigma)


def _as_text(budget: Budget) -> str:
    return f"(epsilon {float(budget.epsilon):g}, delta {float(budget.delta):g})"


def _sync(folder: Path) -> None:
    """Write the entries of a folder to disk, so that a new file survives a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
