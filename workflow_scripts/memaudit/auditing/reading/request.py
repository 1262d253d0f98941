"""The user's description of what is audited: a table, or files of predictions. Standard library only."""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS = 100_000
SHIPPED = "tabicl-small"  # the model that is audited if none is named
FPR = 0.01  # at which an audit tells who is accused


@dataclass(frozen=True)
class Request:
    """The table's path, the roles of its columns, and how it is read; column names as in the file."""

    table: str
    target: str
    group: str | None = None
    lone_rows: bool = False  # a row without its group is a privacy unit of its own
    merge_rare: bool = False  # classes of too few rows, and those beyond the most, are one class
    task: str | None = None  # classification or regression; None: by the target's values
    by: Sequence[str] = ()
    drop: Sequence[str] = ()
    infer: Sequence[str] = ()  # columns whose values an adversary infers
    categorical: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None  # the decimal sign, and the order of a date's parts, where the cells leave them open
    dates: str | None = None
    seed: int = 0
    rows: int = MOST_ROWS
    name: str | None = None  # what the page calls the table; None: the file's name


@dataclass(frozen=True)
class PredictionRequest:
    """The files and the roles of their columns, as on the command line."""

    members: str
    nonmembers: str
    target: str
    references: Sequence[str] = ()
    id: str | None = None  # None: the column called id, if there is one
    group: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None  # as for a table, see `Request`
    dates: str | None = None
    seed: int = 0
    rows: int = MOST_ROWS  # of either file
