"""Options that say how a table of the user is read, the same for every command that reads one."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, fields

from memaudit.common.cell_notations import MISSING, ORDERS, SEPARATORS


@dataclass(frozen=True)
class ReadingOptions:
    """How a table is read; decimal, dates: the decimal sign and the order of a date's parts that cells leave open."""

    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    dates: str | None = None


NAMES = tuple(one.name for one in fields(ReadingOptions))


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options, with the names of `ReadingOptions`."""
    parser.add_argument("--drop", nargs="+", default=(), metavar="COLUMN", help="columns that the model never sees")
    parser.add_argument("--categorical", nargs="+", default=(), metavar="COLUMN", help="columns that are categories")
    words = f"words that mean a missing value, beside an empty cell and {', '.join(MISSING)}"
    parser.add_argument("--missing", nargs="+", default=(), metavar="WORD", help=words)
    parser.add_argument("--delimiter", help="of a CSV file; by default detected in its first line")
    parser.add_argument("--encoding", help="of a CSV file; by default utf-8")
    parser.add_argument(
        "--decimal", choices=SEPARATORS, help="the decimal sign of numbers that can be read in two ways"
    )
    parser.add_argument(
        "--dates", choices=ORDERS, help="order of day, month and year of dates that can be read in two ways"
    )


def chosen(options: Namespace) -> ReadingOptions:
    """The options that were given."""
    return ReadingOptions(**{name: getattr(options, name) for name in NAMES})
