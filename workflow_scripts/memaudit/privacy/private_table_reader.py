"""Row-by-row reading of a private table by its public facts: every row of the file, without deduplication.

Unlike `data` does for an audit, no duplicates are dropped, no conflicts resolved and no types detected. Privacy needs
none of this, and it would invalidate the proof: where the first of two conflicting records is kept, removing it lets
the other in; where duplicates belong to two people, removing one assigns the record to the other; a type detected from
all rows can change with one of them. Here the result for a row depends on that row alone: adding or removing it changes
nothing else.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import Roles, cleaned, first_row, infer
from memaudit.data.duckdb_engine import connect, identifier, parquet
from memaudit.data.record_ids import message
from memaudit.data.table_readings import TEXTS
from memaudit.privacy.declared_numbers import read_numbers
from memaudit.privacy.public_facts import Column, Facts, Public, read_facts, read_public


@dataclass(frozen=True)
class RawTable:
    """Public schema, encoded records x (n, d), y (n,), the unit of each (n,), and the text of every row of the file.

    Records are sorted by the hash of their row, so that nothing depends on their order in the file.
    """

    public: Public
    x: Array32
    y: NDArray[np.int64] | Array
    units: list[str]
    rows: list[str]


def read_raw(raw: str | Path, public: str | Path, entry: Mapping[str, Any], threads: int = 1) -> RawTable:
    """Read a table as it was fetched (Parquet). public: file of its public facts.

    entry: of the catalogue: target, group (column of the unit; None: each row is one), drop, missing, decimal (None or
    left out: a point); and `typed`, of the source. Raises AuditError for facts that do not fit the columns, and for a
    table that cannot be read by them: the message is for the owner of the table alone, and no budget has been spent.
    """
    facts = read_facts(public)
    if seen := facts.bounds_from_data:
        raise AuditError(
            f"{public}: bounds_from_data: bounds of {', '.join(seen)} were chosen in view of the data, which a "
            "release's guarantee excludes; give bounds that are known without this table, and remove the key"
        )
    with connect(Path(raw).parent, threads) as connection:
        natives = _open(connection, raw)
        names = list(natives)
        left_out = {entry["target"], entry["group"], *entry["drop"]}
        known = read_public(public, _types(facts, [name for name in names if name not in left_out]))
        types = {column.name: column.type for column in known.columns}
        if "target" in map(str.lower, types):
            raise AuditError("column 'target': a release gives this name to its target; rename the column")
        numbers = types | ({entry["target"]: "numeric"} if facts.task == "regression" else {})
        texts = [name for name in names if numbers.get(name) == "numeric" and natives[name].startswith(TEXTS)]
        _as_declared(connection, texts, entry)
        reading = {key: entry[key] for key in ("target", "group", "drop", "missing", "typed")}
        features, target = infer(connection, Roles(facts.task, types=types, **reading))
        columns = {column.source: column.value for column in features} | {"target": target.value}
        x, y, kept = known.encode(_select(connection, columns))
        if 2 * kept.sum() < len(kept):
            raise AuditError(
                f"{public}: {len(kept) - kept.sum()} of {len(kept)} records have no target that it names, and would be "
                "left out; fix `target`: spelling and case count"
            )
        rows = _texts(connection, message(sorted(names)))
        units = _owners(connection, entry["group"], entry["missing"]) if entry["group"] else _numbered(rows)
    place = np.cumsum(kept) - 1
    # The position of a row depends on the row alone, too: last bits of PATE teachers depend on the order of their rows.
    order = sorted(np.flatnonzero(kept), key=lambda row: hashlib.sha256(rows[row].encode()).digest())
    return RawTable(known, x[place[order]], y[place[order]], [units[row] for row in order], rows)


def row_texts(raw: str | Path, threads: int = 1) -> list[str]:
    """The text of every row of a table as it was fetched, by which a ledger recognises the table."""
    with connect(Path(raw).parent, threads) as connection:
        return _texts(connection, message(sorted(_open(connection, raw))))


def _open(connection: DuckDBPyConnection, raw: str | Path) -> dict[str, str]:
    """Create the view `file` of a table as it was fetched; return the types of its columns."""
    connection.execute(f"CREATE VIEW file AS SELECT * FROM {parquet(raw)}")
    described = connection.execute("DESCRIBE file").fetchall()
    return {name: native for name, native, *_ in described if name != "file_row_number"}


def _as_declared(connection: DuckDBPyConnection, texts: Sequence[str], entry: Mapping[str, Any]) -> None:
    """Create the view `raw`: the file with numbers of columns of texts as the entry declares them.

    Units, and the texts by which a ledger knows the rows, are those of `file`.
    """
    values = read_numbers(connection, texts, entry.get("decimal"), entry["missing"])
    changed = ", ".join(f"{value} AS {identifier(name)}" for name, value in values.items())
    connection.execute(f"CREATE VIEW raw AS SELECT *{f' REPLACE ({changed})' if changed else ''} FROM file")


def _types(facts: Facts, names: Sequence[str]) -> dict[str, str]:
    """Type of each column by the facts; `read_public` reports a column that they do not name."""
    types = dict.fromkeys(names, "numeric")
    for entry, values in reversed(facts.columns.items()):
        types |= {name: Column(name, values).type for name in names if fnmatchcase(name, entry)}
    return types | {name: Column(name, values).type for name, values in facts.columns.items() if name in types}


def _select(connection: DuckDBPyConnection, columns: Mapping[str, str]) -> pd.DataFrame:
    chosen = ", ".join(f"{value} AS {identifier(name)}" for name, value in columns.items())
    return connection.execute(f"SELECT {chosen} FROM raw ORDER BY file_row_number").df()


def _texts(connection: DuckDBPyConnection, text: str) -> list[str]:
    rows = connection.execute(f"SELECT {text} FROM file ORDER BY file_row_number").fetchall()
    return [row for (row,) in rows]


def _numbered(rows: Sequence[str]) -> list[str]:
    """A unit for each row: the row and its number among equal rows. Removing one of them removes the last number."""
    seen: Counter[str] = Counter()
    units = []
    for row in rows:
        seen[row] += 1
        units.append(f"{row}#{seen[row]}")
    return units


def _owners(connection: DuckDBPyConnection, group: str, missing: Sequence[str]) -> list[str]:
    owner = cleaned(group, missing)
    if (row := first_row(connection, f"({owner}) IS NULL")) is not None:
        raise AuditError(f"group {group!r} is missing in data row {row}: every record needs its unit")
    return _texts(connection, owner)
