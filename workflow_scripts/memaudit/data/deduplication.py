"""From a raw table to typed records with ids, deduplicated before any split. Streamed through DuckDB."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing
from memaudit.data.column_readings import Choices
from memaudit.data.column_schema import Column, Roles, cleaned, first_row, infer, sort_categories, to_drop
from memaudit.data.duckdb_engine import connect, identifier, literal, parquet
from memaudit.data.record_ids import hexadecimal, keyed, message, use_key
from memaudit.data.table_readings import ReadTable, read_features


@dataclass(frozen=True)
class Policy(Roles):
    """How a raw table is read, and what happens to its duplicates.

    duplicates (all values equal): drop all but the first, or keep. conflicts (features equal, another target):
    drop_both (every record of such a set: keeping one is not 1-stable), keep_first, or keep. Duplicates are detected by
    content, whatever their group: a duplicate among the non-members would leak a member as well. Duplicates that are
    kept become one group, so that no split separates them.

    own: whether the table is the user's, read in any notation (`table_readings`); decimal, dates: the decimal sign, and
    the order of a date's parts, where the cells leave them open; comma_delimited: whether commas delimit the cells.
    """

    duplicates: str = "drop"
    conflicts: str = "keep"
    own: bool = False
    decimal: str | None = None
    dates: str | None = None
    comma_delimited: bool = False


def policy_of(facts: Mapping[str, Any], settings: Mapping[str, Any]) -> Policy:
    """The policy for a fetched table, from its facts (`fetch`) and the settings of its entry, which have precedence."""
    settings = {**settings, "drop": to_drop(settings, facts)}
    target = settings.pop("target", None) or facts["target"]
    types = {**facts["types"], **settings.pop("types", {})}
    types.pop(target, None)  # follows from the task
    kind = {"typed": facts["typed"], "own": facts["own"], "comma_delimited": facts["delimiter"] == ","}
    return Policy(target=target, types=types, **kind, **settings)


def deduplicate(
    raw: str | Path, records: str | Path, key: bytes, policy: Policy, dataset: str, threads: int = 1
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Write the records of a raw Parquet table; return their schema and, as tidy rows, the counts.

    records: columns id (32 hexadecimal digits), group (hashed likewise; only where records belong together), the
    features, target; in the raw table's order. The schema says which columns are left out, and how others are read.
    Raises AuditError for bad data (see column_schema.infer), one class, a
    constant target.
    """
    with connect(Path(records).parent, threads) as connection, replacing(records) as temporary:
        features, target, left_out, texts, remarks, _ = _columns(connection, Path(raw), policy)
        use_key(connection, key, [column.source for column in (*features, target)])
        _type(connection, features, target, policy)
        counts = _find_duplicates(connection, features, policy)
        grouped = _write(connection, policy, temporary)
        connection.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet({literal(temporary)})")
        schema = _schema(connection, dataset, features, target, policy.task, grouped)
        unread = {name: f"{why} (read by models of text alone)" for name, why in texts.items()}
        schema |= {"left_out": left_out, "readings": {**remarks, **unread}}
    counts |= {"records": schema["records"], "units": schema["units"]}
    method = f"duplicates: {policy.duplicates}; conflicts: {policy.conflicts}"
    rows = [
        tidy.row("data", {"dataset": dataset}, name, value, unit="count", n=counts["rows"], method=method)
        for name, value in counts.items()
    ]
    return schema, rows


def _columns(connection: DuckDBPyConnection, raw: Path, policy: Policy) -> ReadTable:
    """Create the view `raw` and return its columns."""
    if policy.own:
        kind = {"comma_delimited": policy.comma_delimited, "typed": policy.typed}
        choices = Choices(policy.types, policy.decimal, policy.dates, **kind)
        return read_features(connection, raw, policy, choices, policy.task)
    connection.execute(f"CREATE VIEW raw AS SELECT * FROM {parquet(raw)}")
    return ReadTable(*infer(connection, policy), {}, {}, {}, policy.task)


def _type(connection: DuckDBPyConnection, features: list[Column], target: Column, policy: Policy) -> None:
    """Create the view `typed`: position as id, owner as group, typed columns; only the rows that have a target.

    It is a scratch file: two queries read it, and planning them over many computed columns takes longer than writing
    it.
    """
    missing = _one(connection, f"SELECT count(*) FROM raw WHERE ({target.value}) IS NULL")
    if missing and policy.missing_target == "error":
        row = first_row(connection, f"({target.value}) IS NULL")
        raise AuditError(
            f"target {target.source!r} is missing in {missing} rows, the first is data row {row}; "
            "fill it, or set `missing_target: drop`"
        )
    owner = cleaned(policy.group, policy.missing) if policy.group else "NULL"
    if policy.group and (row := first_row(connection, f"({owner}) IS NULL")) is not None:
        raise AuditError(f"group {policy.group!r} is missing in data row {row}: every record needs its group")
    columns = ", ".join(f"{column.value} AS {identifier(column.name)}" for column in (*features, target))
    folder = _one(connection, "SELECT current_setting('temp_directory')")
    scratch = literal(f"{folder}/typed.parquet")
    connection.execute(
        f'COPY (SELECT file_row_number AS id, {owner} AS "group", {columns} '
        f"FROM raw WHERE ({target.value}) IS NOT NULL) TO {scratch} (FORMAT parquet)"
    )
    connection.execute(f"CREATE VIEW typed AS SELECT * FROM read_parquet({scratch})")


def _find_duplicates(connection: DuckDBPyConnection, features: list[Column], policy: Policy) -> dict[str, int]:
    """Create the tables `keys` (hashes by position), `copies` (duplicates), `disputed` and `dropped`; return counts."""
    content = message(column.name for column in sorted(features, key=lambda column: column.source))
    record = "CAST(content AS VARCHAR) || " + message(["target"])
    connection.execute(
        f"CREATE TABLE keys AS SELECT position, owner, content, {keyed(record)} AS record FROM "
        f'(SELECT id AS position, "group" AS owner, {keyed(content)} AS content, target FROM typed)'
    )
    connection.execute("""
        CREATE TABLE copies AS
        SELECT position, row_number() OVER (PARTITION BY record ORDER BY position) AS copy
        FROM keys WHERE record IN (SELECT record FROM keys GROUP BY record HAVING count(*) > 1)""")
    connection.execute(
        "CREATE TABLE dropped AS SELECT position FROM copies WHERE copy > 1 AND ?", [policy.duplicates == "drop"]
    )
    connection.execute("""
        CREATE TABLE disputed AS
        SELECT position, content, record <> first_value(record) OVER (PARTITION BY content ORDER BY position) AS later
        FROM keys WHERE content IN (SELECT content FROM keys GROUP BY content HAVING min(record) <> max(record))
        AND position NOT IN (SELECT position FROM dropped)""")
    counts = {
        "rows": _one(connection, "SELECT count(*) FROM raw"),
        "without_target": _one(connection, "SELECT (SELECT count(*) FROM raw) - (SELECT count(*) FROM keys)"),
        "duplicates": _one(connection, "SELECT count(*) FROM copies WHERE copy > 1"),
        "conflicting_records": _one(connection, "SELECT count(*) FROM disputed"),
        "conflicting_sets": _one(connection, "SELECT count(DISTINCT content) FROM disputed"),
    }
    connection.execute(
        "INSERT INTO dropped SELECT position FROM disputed WHERE ? OR (? AND later)",
        [policy.conflicts == "drop_both", policy.conflicts == "keep_first"],
    )
    return counts


def _write(connection: DuckDBPyConnection, policy: Policy, records: Path) -> bool:
    """Write the table of records; return whether it has groups."""
    connection.execute("CREATE VIEW kept AS SELECT * FROM keys ANTI JOIN dropped USING (position)")
    together = "SELECT content FROM kept GROUP BY content HAVING count(*) > 1"
    if policy.group:
        shared = _one(connection, f"SELECT count(*) FROM ({together} AND count(DISTINCT owner) > 1)")
        if shared:
            raise AuditError(
                f"{shared} sets of duplicates belong to several values of group {policy.group!r}, so no split could "
                "keep both duplicates and groups together; set `duplicates: drop` and `conflicts: drop_both`"
            )
        unit = keyed("'group:' || owner")
    else:
        unit = "content"
    grouped = bool(policy.group) or bool(_one(connection, f"SELECT count(*) FROM ({together})"))
    group = f', {hexadecimal(unit)} AS "group"' if grouped else ""
    again = keyed("CAST(record AS VARCHAR) || '#' || copy")
    connection.execute(
        f"COPY (SELECT {hexadecimal(f'CASE WHEN copy > 1 THEN {again} ELSE record END')} AS id{group}, "
        'typed.* EXCLUDE (id, "group") FROM typed JOIN kept ON typed.id = kept.position '
        f"LEFT JOIN copies USING (position) ORDER BY position) TO {literal(records)} (FORMAT parquet)"
    )
    return grouped


def _schema(
    connection: DuckDBPyConnection, dataset: str, features: list[Column], target: Column, task: str, grouped: bool
) -> dict[str, Any]:
    """Return the schema of the records, categories sorted. Raises AuditError for one class or a constant target."""
    records = _one(connection, "SELECT count(*) FROM records")
    described = _describe(connection, [*features, target])
    if not records:
        raise AuditError(f"{dataset}: no records are left after conflicting ones were dropped; see `conflicts`")
    if task == "classification" and len(described[-1]["categories"]) < 2:
        raise AuditError(f"{dataset}: target {target.source!r} has only one class, nothing can be learnt or attacked")
    if task == "regression" and _one(connection, "SELECT min(target) = max(target) FROM records"):
        raise AuditError(f"{dataset}: target {target.source!r} is constant, nothing can be learnt or attacked")
    units = _one(connection, 'SELECT count(DISTINCT "group") FROM records') if grouped else records
    return {
        "dataset": dataset,
        "task": task,
        "records": records,
        "units": units,
        "grouped": grouped,
        "columns": described[:-1],
        "target": described[-1],
    }


def _describe(connection: DuckDBPyConnection, columns: list[Column]) -> list[dict[str, Any]]:
    missing = ", ".join(f"count(*) - count({identifier(column.name)})" for column in columns)
    counts = connection.execute(f"SELECT {missing} FROM records").fetchone()
    described = [
        {"name": column.name, "source": column.source, "type": column.type, "missing": count}
        for column, count in zip(columns, counts, strict=True)
    ]
    for facts in described:
        if facts["type"] == "categorical":
            name = identifier(facts["name"])
            values = connection.execute(f"SELECT DISTINCT {name} FROM records WHERE {name} IS NOT NULL").fetchall()
            facts["categories"] = sort_categories([value for (value,) in values])
    return described


def _one(connection: DuckDBPyConnection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]
