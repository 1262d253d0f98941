"""What an audit adds on demand: contexts with differential privacy at chosen epsilons, and a fine-tuning probe.

Each is a section of a study's config, restricted to the audited table: `tabpate` and `iclmem` measure, nothing is
measured here.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from memaudit.data.duckdb_engine import connect, parquet
from memaudit.errors import AuditError
from memaudit.io import replacing
from memaudit.privacy.public_facts import read_public

PUBLIC = "table/table.yaml"
OWN = "the table itself: epsilon does not cover these bounds and categories; --public FILE gives published ones"
# Of the demo's arms: the one that did best there, and the paper's strongest baseline that releases a context.
PRIVATE, ATTACKED = ("class_moments", "dp_tabicl"), ("class_moments",)
TUNED, PLACEBO = "lr_1e_3", "placebo"
SPLITS, EPOCHS = 5, (10, 50)
FEWEST_QUERIES, MOST_QUERIES, MOST_CONTEXT = 21, 50, 150
# What they take of the budget, in CPU seconds on 1,000 records of 20 columns with the shipped model.
PRIVATE_SECONDS, TUNING_SECONDS = 90.0, 240.0


def write_public(folder: Path, facts: Mapping[str, Any], given: str | None) -> None:
    """Write the facts that private contexts may use, under the safe names of the columns.

    given: a file of published facts (docs/release.md) under the table's own names; without one the least and largest
    numbers and the categories are read from the table, which no epsilon covers; the file says so. Raises AuditError.
    """
    columns = {safe: column for safe, column in facts["columns"].items() if column["use"]}
    for column in columns.values():
        if column["type"] not in ("numeric", "categorical"):
            raise AuditError(
                f"--epsilon: column {column['name']!r} is read as {column['type']}, private contexts hold numbers and "
                "categories; leave it out with --drop, or edit schema.yaml"
            )
    with connect(folder / "table") as connection:
        view = parquet(folder / "table/table.parquet")
        found = {safe: _values(connection, view, safe, column["type"]) for safe, column in columns.items()}
        target = _values(connection, view, "target", "categorical")
    source = OWN
    if given:
        named = read_public(given, {column["name"]: column["type"] for column in columns.values()})
        found = {safe: list(column.values) for safe, column in zip(columns, named.columns, strict=True)}
        source = named.source
    told = {"source": source, "records": facts["taken"], "task": "classification", "target": target, "columns": found}
    with replacing(folder / PUBLIC) as temporary:
        temporary.write_text(yaml.safe_dump(told, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _values(connection: Any, view: str, name: str, kind: str) -> list[Any]:
    """Bounds of a column of numbers, or its categories."""
    if kind == "categorical":
        rows = connection.execute(f"SELECT DISTINCT {name}::VARCHAR FROM {view} WHERE {name} IS NOT NULL").fetchall()
        return sorted(value for (value,) in rows)
    low, high = connection.execute(f"SELECT min({name})::DOUBLE, max({name})::DOUBLE FROM {view}").fetchone()
    return [low, high] if low < high else [low, low + 1.0]


def private_contexts(
    name: str, epsilons: Sequence[float], records: int, model: str, arms: Collection[str], fpr: Sequence[float]
) -> dict[str, Any]:
    """The section `tabpate`; arms: those that the config knows, of which the audit takes PRIVATE."""
    return {
        "datasets": [name],
        "models": {"classification": model},
        "epsilons": list(epsilons),
        "repeats": 3,
        "roles": {"max_records": records},
        "arms": {arm: {"datasets": [name] if arm in PRIVATE else []} for arm in arms},
        "ablations": {"datasets": []},
        "shadows": {
            "datasets": [name],
            "arms": list(ATTACKED),
            "epsilons": list(epsilons),
            "sets": 32,
            "shard": 16,
            "fpr": list(fpr),
            "permutations": 39,
            "poisoned": {"epsilons": list(epsilons)[-1:], "sets": 16, "targets": 2, "budgets": [1]},
        },
    }


def check_units(units: int) -> None:
    """Raise AuditError where so many records, or people, are too few to fine-tune on some and keep others."""
    if units // 6 < FEWEST_QUERIES:
        raise AuditError(
            f"--finetune: {units} records (or units) are too few; {6 * FEWEST_QUERIES} are needed to fine-tune on some "
            "and hold others against them"
        )


def finetuning(name: str, units: int, model: str, arms: Mapping[str, Any], tables: Collection[str]) -> dict[str, Any]:
    """The section `iclmem`; arms: those that the config knows, the others of which get another table: no job is theirs.

    Raises AuditError for a table whose members cannot be told from non-members.
    """
    check_units(units)
    queries, context = min(MOST_QUERIES, units // 6), min(MOST_CONTEXT, units // 3)
    elsewhere = {arm: {"datasets": sorted(entry.get("datasets") or tables)} for arm, entry in arms.items()}
    return {
        "datasets": [name],
        "models": {"classification": model},
        "splits": SPLITS,
        "splits_per_job": 3,
        "queries": queries,
        "context": context,
        "epochs": list(EPOCHS),
        "targets": {"queries": FEWEST_QUERIES, "context": 0},
        "arms": elsewhere | {TUNED: {"datasets": [name]}, PLACEBO: {"datasets": [name], "epochs": [EPOCHS[-1]]}},
    }
