"""Lines on the user's screen, in which names from a table or a path stand as they are read.

Names are put into a line by `repr`, which leaves printable signs and escapes all others, such as the control characters
by which the name of a hostile file's column would command the terminal.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from memaudit.common.errors import printable

SHOWN = 40  # most columns of a table that are listed
WIDEST = 40  # letters of a name


def alike(remarks: Mapping[str, str]) -> list[str]:
    """Lines for readers: each remark with all columns that it is made on; remarks: by column."""
    columns: dict[str, list[str]] = {}
    for name, remark in remarks.items():
        columns.setdefault(remark, []).append(repr(name))
    return [f"{', '.join(names)}: {remark}" for remark, names in columns.items()]


def listed(texts: Mapping[str, str]) -> list[str]:
    """A line for each of the first columns, its name and its text, and one that counts the others; texts: by column."""
    names = {name: repr(name)[:WIDEST] for name in list(texts)[:SHOWN]}
    width = max(map(len, names.values()))
    lines = [f"{shown:{width}}  {texts[name]}" for name, shown in names.items()]
    return lines + ([f"... and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else [])


def show(lines: Iterable[str]) -> None:
    """Print lines to standard output: escaped is what a terminal obeys, and what the output's encoding cannot show."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # a notebook's, or a file in memory, may have none
    for line in lines:
        text = f"memaudit: {printable(line)}"
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Write a line with its end at once, to standard error by default: `print` writes both apart if unbuffered.

    Between the two, other processes of a workflow may write a line of their own to the same terminal.
    """
    stream = stream or sys.stderr
    stream.write(f"{text}\n")
    stream.flush()
