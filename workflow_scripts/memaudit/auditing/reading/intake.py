"""The private copy of a user's table: typed, with safe column names, sampled if large, its target classes or numbers.

No later step sees a column name of the user's file: columns are c0, c1, ..., target, group and row. Their true names
stand in facts.json beside the copy, which only its owner can read. All steps stream: 10 million rows fit.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memaudit.auditing.reading import schema_file, source_file
from memaudit.auditing.reading.column_hints import column_hint
from memaudit.auditing.reading.person_columns import lone_rows, persons
from memaudit.auditing.reading.request import Request
from memaudit.auditing.reading.table_columns import read_target
from memaudit.auditing.reading.typed_slices import Slices, typed_slices
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.data.column_readings import Choices
from memaudit.data.column_schema import Column, Roles, cleaned, infer
from memaudit.data.duckdb_engine import connect, parquet
from memaudit.data.table_readings import CLASSIFICATION, TableReadings, read_table
from memaudit.data.table_sources import fetch
from memaudit.data.text_columns import FREE_TEXT

FEWEST_ROWS = 60
MOST_COLUMNS = 500
MOST_NAMED = 5  # columns that an error names


def take_in(
    request: Request, folder: Path, accept: Callable[[Mapping[str, Any], Path], Any] = lambda facts, copy: None
) -> dict[str, Any]:
    """Copy the table into folder/table and return the facts about it; a copy of the same request is kept.

    accept: refuses facts, or a copy, by an AuditError. Raises AuditError, one line that names the file, column or row
    and the remedy, never a value; an earlier copy is then left as it is.
    """
    private = folder / "table"
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    schema, facts, copy = folder / "schema.yaml", private / "facts.json", private / "table.parquet"
    with TemporaryDirectory(prefix=".read-", dir=private) as scratch:
        linked = source_file.link(request.table, Path(scratch))
        chosen = schema_file.edited(schema)
        stamp, path = _stamp(request, linked, chosen), ascii(str(linked.resolve()))
        if facts.exists() and (other := read_json(facts)["path"]) != path:
            raise AuditError(
                f"{str(folder)!r}: holds the audit of another table, {other}; give another folder with --into"
            )
        if facts.exists() and copy.exists() and (known := read_json(facts))["stamp"] == stamp:
            accept(known, copy)
            return known
        try:
            taken = _read(request, linked, chosen, Path(scratch))
        except AuditError as error:
            raise AuditError(source_file.in_users_words(error, linked, request.table)) from error.__cause__
        accept(taken, Path(scratch, copy.name))
        facts.unlink(missing_ok=True)  # those of an earlier copy never stand beside this one
        Path(scratch, copy.name).replace(copy)
        if chosen is None:
            schema_file.offer(schema, taken)
            chosen = schema_file.edited(schema)
        write_json(taken | {"path": path, "stamp": _stamp(request, linked, chosen)}, facts)
    return read_json(facts)


def _read(request: Request, linked: Path, chosen: Mapping[str, Any] | None, scratch: Path) -> dict[str, Any]:
    """Write the copy into the folder scratch and return the facts about it."""
    raw = scratch / "raw.parquet"
    origin = fetch(source_file.source_entry(linked, request.encoding, request.delimiter), raw, scratch)
    _named(request, origin["columns"], chosen)
    roles = _roles(request, origin, chosen or {})
    _narrow(len({*origin["columns"]} - {*roles.drop, request.target, request.group}))
    with connect(scratch) as connection:
        readings = read_table(connection, raw, roles, _choices(request, roles, origin, chosen or {}), request.task)
        features, _ = infer(connection, replace(roles, types=dict(readings.codes) | dict(roles.types)))
        read = read_target(connection, request.target, roles.missing, readings.task, request.merge_rare)
        rows = _rows(connection, request, origin, read.expression)
        with typed_slices(connection, features, safe_names(origin["columns"]), read.expression, scratch) as cells:
            omitted = _omitted(connection, cells, features, readings, chosen, roles.types)
            kept = [column for column in features if column.source not in omitted]
            _readable(request, kept, omitted)
            constant = cells.constant(connection)
            taken = _copy(connection, request, cells, kept, read.expression, scratch / "table.parquet")
    earlier = {name: column["left_out"] for name, column in (chosen or {}).items() if column["left_out"]}
    omitted |= {name: earlier.get(name, "by your choice") for name in roles.drop}
    return (
        _described(request, origin, features, omitted)
        | {"task": read.description, "kind": read.kind, "classes": read.classes, "rare": dict(read.rare)}
        | rows
        | {
            "taken": taken,
            "readings": dict(readings.remarks),
            "constant": [column.source for column in kept if column.source in constant],
        }
    )


def _roles(request: Request, origin: Mapping[str, Any], chosen: Mapping[str, Mapping[str, Any]]) -> Roles:
    """What each column is by the request and by the user's schema, `chosen`."""
    unused = {name for name, column in chosen.items() if not column["use"]} | set(request.drop)
    types = {name: column["type"] for name, column in chosen.items()}
    types |= dict.fromkeys(request.categorical, "categorical")
    return Roles(
        task=CLASSIFICATION,
        target=request.target,
        types={name: kind for name, kind in types.items() if name not in unused},
        drop=sorted(unused - {request.target, request.group}),
        missing=(*MISSING, *request.missing),
        group=request.group,
        typed=origin["typed"],
    )


def _rows(connection: Any, request: Request, origin: Mapping[str, Any], target: str) -> dict[str, Any]:
    """Facts of the rows: how many have no target, and whose they are. Raises AuditError for too few with one.

    target: its SQL.
    """
    with_target = connection.execute(f"SELECT count(*) FROM raw WHERE ({target}) IS NOT NULL").fetchone()[0]
    _enough(min(with_target, request.rows), with_target >= FEWEST_ROWS)  # before the copy, which is slow
    marks = (*MISSING, *request.missing)
    others = [name for name in origin["columns"] if name != request.target]
    return {
        "without_target": origin["rows"] - with_target,
        "lone": lone_rows(connection, request, marks),
        "persons": {} if request.group else persons(connection, others, marks),
    }


def _choices(
    request: Request, roles: Roles, origin: Mapping[str, Any], chosen: Mapping[str, Mapping[str, Any]]
) -> Choices:
    """What the user chose for all columns and for single ones; chosen: the user's schema."""
    return Choices(
        types=roles.types,
        decimal=request.decimal,
        dates=request.dates,
        decimals={name: one["decimal"] for name, one in chosen.items() if one["decimal"]},
        orders={name: one["dates"] for name, one in chosen.items() if one["dates"]},
        comma_delimited=origin["delimiter"] == ",",
        typed=origin["typed"],
    )


def _omitted(
    connection: Any,
    cells: Slices,
    features: Sequence[Column],
    readings: TableReadings,
    chosen: Mapping[str, Any] | None,
    types: Mapping[str, str],
) -> dict[str, str]:
    """Columns that no model can use, with the reasons.

    chosen: the user's schema, which decides on columns that number the rows; types: by column, as the user gave them.
    """
    declared = {column.source: FREE_TEXT for column in features if column.type == types.get(column.source) == "text"}
    omitted = cells.text_reasons(connection, readings.codes) | declared | cells.without_value(connection)
    if chosen is None:
        numbers = cells.numbering_rows(connection)
        omitted |= {name: why for name, why in numbers.items() if name not in types}
    return omitted


def _copy(connection: Any, request: Request, cells: Slices, kept: Sequence[Column], target: str, table: Path) -> int:
    """Write the copy and return its number of rows. Raises AuditError where it cannot be audited; target: its SQL."""
    cells.check_range(connection, kept)
    _draw(connection, request, target, (*MISSING, *request.missing))
    cells.copy(connection, kept, table)
    taken = connection.execute("SELECT count(*) FROM drawn").fetchone()[0]
    _enough(taken, sampled=True)  # the sample holds whole units only
    safe = {column.source: name for columns in cells.columns.values() for column, name in columns}
    _different(connection, table, taken, [safe[column.source] for column in kept], request.group)
    _varying(connection, table, {name: safe[name] for name in request.infer})
    return taken


def _described(
    request: Request, origin: Mapping[str, Any], features: Sequence[Column], omitted: Mapping[str, str]
) -> dict[str, Any]:
    """Facts of the file, of the roles that the user gave to columns, and of how each column is used."""
    rename = safe_names(origin["columns"])
    types = {column.source: column.type for column in features}
    return {
        "name": (request.name or Path(request.table).name).encode("utf-8", "backslashreplace").decode(),
        "sha256": origin["sha256"],
        "rows": origin["rows"],
        "target": request.target,
        "group": request.group,
        "by": [rename[name] for name in request.by],
        "infer": [rename[name] for name in request.infer],
        "columns": {
            rename[name]: {"name": name, "type": types.get(name), "use": name not in omitted}
            for name in origin["columns"]
            if name not in (request.target, request.group)
        },
        "left_out": dict(omitted),
    }


def safe_names(columns: Sequence[str]) -> dict[str, str]:
    """Safe name of each column, all with the same number of digits so that sorting (JSON files) keeps the order."""
    digits = len(str(len(columns) - 1))
    return {name: f"c{place:0{digits}d}" for place, name in enumerate(columns)}


def _narrow(columns: int) -> None:
    """Raise AuditError for more columns than the models can read."""
    if columns > MOST_COLUMNS:
        raise AuditError(
            f"the table has {columns} columns besides the target, an audit reads at most {MOST_COLUMNS}: leave some "
            "out with --drop, or give a file with fewer"
        )


def _enough(rows: int, sampled: bool) -> None:
    """Raise AuditError for too few rows with a target; sampled: whether the table has enough, and --rows too few."""
    if rows < FEWEST_ROWS:
        remedy = ": give a larger --rows" if sampled else ""
        raise AuditError(f"{rows} rows with a target are too few to attack; at least {FEWEST_ROWS} are needed{remedy}")


def _different(connection: Any, table: Path, rows: int, columns: Sequence[str], group: str | None) -> None:
    """Raise AuditError if too few records are left once duplicates are dropped.

    Of rows that differ in the target alone all are kept, or none where there are privacy units: as in later steps.
    """
    targets = f"SELECT count(DISTINCT target) AS n FROM {parquet(table)} GROUP BY hash({', '.join(columns)})"
    kept = "count_if(n = 1)" if group else "sum(n)"
    records = int(connection.execute(f"SELECT {kept} FROM ({targets})").fetchone()[0])
    if records < FEWEST_ROWS:
        raise AuditError(
            f"{records} of {rows} rows are left without duplicates, too few to attack; at least {FEWEST_ROWS} that "
            "differ are needed"
        )


def _varying(connection: Any, table: Path, columns: Mapping[str, str]) -> None:
    """Raise AuditError for a column, by its name in the table, that has a single value in the copy."""
    for name, safe in columns.items():
        (count,) = connection.execute(f"SELECT count(DISTINCT {safe}) FROM {parquet(table)}").fetchone()
        if count < 2:
            raise AuditError(f"--infer {name!r}: the column has one value only, there is nothing to infer")


def _readable(request: Request, kept: Sequence[Column], omitted: Mapping[str, str]) -> None:
    """Raise AuditError if no column is kept, or one that is to be compared is not; omitted: reasons by column."""
    if not kept:
        reasons = [f"{name!r}: {why}" for name, why in list(omitted.items())[:MOST_NAMED]]
        reasons += [f"and {len(omitted) - MOST_NAMED} more"] if len(omitted) > MOST_NAMED else []
        raise AuditError(
            f"no column is left that a model can read ({'; '.join(reasons)}): write numbers with a decimal point, and "
            "name columns of categories with --categorical"
        )
    for name in request.by:
        if name not in {column.source for column in kept}:
            raise AuditError(f"--by {name!r}: the column is left out, so its categories are not compared")
    for name in request.infer:
        if name not in {column.source for column in kept}:
            raise AuditError(f"--infer {name!r}: the model never sees this column, so its answers cannot reveal it")


def _named(request: Request, known: list[str], chosen: Mapping[str, Any] | None) -> None:
    """Raise AuditError for a column that the table does not have, or roles that exclude each other."""
    if "file_row_number" in map(str.lower, known):
        raise AuditError("a column is called file_row_number, a reserved name; rename it")
    named = {"--target": [request.target], "--group": [request.group] if request.group else [], "--by": request.by}
    named |= {
        "--infer": request.infer,
        "--drop": request.drop,
        "--categorical": request.categorical,
        "schema.yaml": list(chosen or {}),
    }
    for option, names in named.items():
        for name in names:
            if name not in known:
                raise AuditError(f"{option}: the table has no column {name!r}{column_hint(name, known)}")
    if len(known) < 2:
        raise AuditError(
            "the table has one column only; a target and at least one feature are needed; is --delimiter wrong?"
        )
    for name, role in ((request.target, "--target"), (request.group, "--group")):
        if name in request.infer:
            raise AuditError(f"--infer {name!r} is the {role}; name a column that the model sees beside the target")
    if len(set(request.infer)) < len(request.infer):
        raise AuditError("--infer: a column is named twice")
    if request.target in (request.group, *request.by, *request.drop):
        raise AuditError(
            f"--target {request.target!r} cannot also be --drop, --group or --by; its classes are compared anyway"
        )


def _draw(connection: Any, request: Request, target: str, marks: Sequence[str]) -> None:
    """Create the table `drawn`: place, target and unit of the rows of the copy.

    Of a large table a sample: the first rows or units by their hash.
    """
    # A row of its own is named as no value of a table is.
    alone = "'memaudit: data row ' || file_row_number"
    unit = f"coalesce({cleaned(request.group, marks)}, {alone})" if request.group else "file_row_number"
    group = f', {unit} AS "group"' if request.group else ""
    drawn, rows = f"hash({unit}, {int(request.seed)})", int(request.rows)
    most = f"ORDER BY {drawn} LIMIT {rows}"
    if request.group:  # RANGE counts all rows of a unit together, so units are not split
        most = f"QUALIFY count(*) OVER (ORDER BY {drawn}, {unit} RANGE UNBOUNDED PRECEDING) <= {rows}"
    connection.execute(
        f"CREATE TABLE drawn AS SELECT file_row_number AS place, ({target}) AS target{group} "
        f"FROM raw WHERE ({target}) IS NOT NULL {most}"
    )


def _stamp(request: Request, linked: Path, chosen: Mapping[str, Any] | None) -> str:
    """Hash of everything that the copy depends on."""
    state = linked.stat()
    facts = [asdict(request), str(linked.resolve()), state.st_size, state.st_mtime_ns, chosen]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
