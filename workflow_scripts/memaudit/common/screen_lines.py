"""Lines on the user's screen, in which names from a table or a path stand as they are read.

Names are put into a line by `repr`, which leaves printable signs and escapes all others, such as the control characters
by which the name of a hostile file's column would command the terminal.
"""

import sys
from collections.abc import Iterable, Mapping

from memaudit.common.errors import printable


def alike(remarks: Mapping[str, str]) -> list[str]:
    """Lines for readers: each remark with all columns that it is made on; remarks: by column."""
    columns: dict[str, list[str]] = {}
    for name, remark in remarks.items():
        columns.setdefault(remark, []).append(repr(name))
    return [f"{', '.join(names)}: {remark}" for remark, names in columns.items()]


def show(lines: Iterable[str]) -> None:
    """Print lines to standard output: escaped is what a terminal obeys, and what the output's encoding cannot show."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # a notebook's, or a file in memory, may have none
    for line in lines:
        text = f"memaudit: {printable(line)}"
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
