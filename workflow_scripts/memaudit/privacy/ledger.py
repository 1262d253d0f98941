"""Ledger of the privacy budget spent on each private table: an append-only file, charged before noise is drawn.

The file is outside `results/`, so that neither a run of another name nor Snakemake, which deletes outputs before it
makes them again, restores the budget of a table. A crash can waste budget but never exceed it.
"""

import fcntl
import hashlib
import json
import math
import operator
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import Noise

IGNORED = ".gitignore"
RELEASED = "statement.json"  # written last into the folder of a charge: marks a complete release


@dataclass(frozen=True)
class Charge:
    """One line of the ledger. name, identity: of the table; total: its limit at the time of the charge.

    id: 16 random hexadecimal digits, the only part of a line that may be published. With the identity, an adversary who
    knows all records but one could test guesses about that record.
    """

    id: str
    time: str
    name: str
    identity: str
    budget: Budget
    total: Budget
    purpose: str


def identity(rows: Iterable[str]) -> str:
    """sha256 of the content of a table, given as one text per row, independent of the order of the rows."""
    hashes = sorted(hashlib.sha256(row.encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()


class Ledger:
    """The file `ledger.jsonl` in a folder readable by its owner alone, with a folder for each charge beside it.

    A table is identified by its name in the catalogue or by its content: charges that share one of them, directly or
    through other charges, are charges of one table. A new name, another run or a changed row gives no new budget.
    Budgets add up (basic composition of epsilons and deltas) as decimals, so that ten times 0.1 is 1.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.path = self.folder / "ledger.jsonl"

    def spent(self, name: str, identity: str) -> Budget:
        """Total charge of a table so far. Raises AuditError for a ledger that cannot be read."""
        if not self.path.exists():
            return Budget(0.0, 0.0)
        with self._locked() as file:
            return Budget(*map(float, _sum(charge.budget for charge in _of_table(self._read(file), name, identity))))

    def check(self, name: str, identity: str, budget: Budget, total: Budget) -> None:
        """Raise the AuditError of `charge` without charging: for a check before hours of computation."""
        with self._locked() as file:
            self._refuse(self._read(file), name, identity, budget, total)

    def charge(self, name: str, identity: str, budget: Budget, total: Budget, purpose: str) -> Charge:
        """Charge a table and return once the line is on disk; only then may noise be drawn.

        Raises AuditError "budget spent ..." if the charges of the table would exceed its total, and for a ledger that
        cannot be read. A file lock serialises concurrent processes.
        """
        with self._locked() as file:
            self._refuse(self._read(file), name, identity, budget, total)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            charge = Charge(secrets.token_hex(8), now, name, identity, budget, total, purpose)
            file.write(json.dumps(asdict(charge), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        for folder in (self.folder, self.folder.parent):
            _sync(folder)
        return charge

    def place(self, charge: Charge) -> Path:
        """Folder for a copy of the release of a charge."""
        return self.folder / charge.id

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
        others = {path.name for path in self.folder.iterdir()} - {IGNORED, self.path.name}
        if others and not self.path.exists():
            raise AuditError(
                f"{self.folder}: has files but no {self.path.name}; if it was lost, take it from a backup, for without "
                "it the spent budget is unknown; else name an empty folder in release/ledger"
            )
        self.folder.chmod(0o700)
        # A git repository around the folder must not track it.
        (self.folder / IGNORED).write_text("*\n", encoding="utf-8")

    def _read(self, file: BinaryIO) -> list[Charge]:
        """All charges. A truncated line may belong to any table: until it is repaired, no table is charged."""
        *lines, rest = file.read().split(b"\n")
        charges = []
        for number, line in enumerate([*lines, *([rest] if rest else [])], start=1):
            charge = _parsed(line)
            if charge is None or number > len(lines):
                raise AuditError(
                    f"{self.path}, line {number}: cut off or damaged, so that the spent budget is unknown; complete "
                    "the line, or remove it if certainly nothing was released for it; nothing is released until then"
                )
            charges.append(charge)
        return charges

    def _refuse(self, charges: list[Charge], name: str, identity: str, budget: Budget, total: Budget) -> None:
        for key, requested in (("budget", budget), ("total", total)):
            if not _is_amount(requested):
                raise AuditError(
                    f"release: {key} {_as_text(requested)} is invalid; epsilon must be positive, delta in [0, 1)"
                )
        own = _of_table(charges, name, identity)
        spent = _sum(charge.budget for charge in own)
        if all(map(operator.le, _sum([*(charge.budget for charge in own), budget]), _sum([total]))):
            return
        places = [self.place(charge) for charge in own if (self.place(charge) / RELEASED).exists()]
        kept = f"its releases are kept in {', '.join(map(str, places))}"
        lost = "no release is kept, because a run ended after its charge; its budget is spent"
        raise AuditError(
            f"budget spent: table {name} has been charged {_as_text(Budget(*spent))} in "
            f"{self.path}, and {_as_text(budget)} more would exceed its total {_as_text(total)}; "
            f"{kept if places else lost if own else 'use a smaller budget'}"
        )


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


def _of_table(charges: list[Charge], name: str, identity: str) -> list[Charge]:
    """Charges that share the name or the content, directly or through other charges."""
    names, identities, own = {name}, {identity}, []
    while more := [c for c in charges if c not in own and (c.name in names or c.identity in identities)]:
        own += more
        names |= {charge.name for charge in more}
        identities |= {charge.identity for charge in more}
    return own


def _sum(budgets: Iterable[Budget]) -> tuple[Decimal, Decimal]:
    """Sums of epsilon and of delta, in decimal arithmetic."""
    pairs = [(Decimal(repr(float(one.epsilon))), Decimal(repr(float(one.delta)))) for one in budgets]
    return sum(epsilon for epsilon, _ in pairs), sum(delta for _, delta in pairs)


def _parsed(line: bytes) -> Charge | None:
    """The charge of a line; None for an invalid line, or one with a budget that is not positive."""
    try:
        fields = json.loads(line)
        budgets = {key: Budget(**fields[key]) for key in ("budget", "total")}
        charge = Charge(**(fields | budgets))
        return charge if _is_amount(charge.budget) else None
    except (ValueError, TypeError, KeyError):
        return None


def _is_amount(budget: Budget) -> bool:
    return 0 < budget.epsilon < math.inf and 0 <= budget.delta < 1


def _as_text(budget: Budget) -> str:
    return f"(epsilon {float(budget.epsilon):g}, delta {float(budget.delta):g})"


def _sync(folder: Path) -> None:
    """Write the entries of a folder to disk, so that a new file survives a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
