"""Contents of a split: records that members and non-members share, targets, and a sample of the features."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32, Mask
from memaudit.common.io import read_table
from memaudit.data.duckdb_engine import connect, identifier, literal
from memaudit.data.member_splits import MEMBERS
from memaudit.data.membership_matrices import unit_codes
from memaudit.data.record_encoding import encode

ROWS = 2000  # records of the sample, at most


@dataclass(frozen=True)
class Sample:
    """Random records: features (record, column), member (record,), and number of the privacy unit (record,)."""

    features: Array32
    member: Mask
    unit: NDArray[np.int64]


@dataclass(frozen=True)
class SplitContents:
    """Contents of a split.

    shared: numbers of ids, feature rows (`shared_copies`) and groups that occur among both members and non-members.
    classes: whether the target is a class. members, nonmembers: their targets (record,), or of classes how many records
    each class has (class,).
    """

    shared: dict[str, int]
    classes: bool
    members: NDArray[Any]
    nonmembers: NDArray[Any]
    sample: Sample


def read_contents(
    records: str | Path, split: str | Path, schema: Mapping[str, Any], rng: np.random.Generator
) -> SplitContents:
    """Read a split. records, split: Parquet tables (id, ...) and (id, side); rng draws the sample."""
    classes = schema["task"] == "classification"
    with connect(Path(split).parent) as connection:
        connection.execute(f"CREATE VIEW split AS SELECT * FROM read_parquet({literal(split)})")
        connection.execute(f"CREATE VIEW sided AS SELECT * FROM read_parquet({literal(records)}) JOIN split USING (id)")
        shared = _shared(connection, schema)
        if classes:
            members, nonmembers = _class_counts(connection)
        else:
            members, nonmembers = (_targets(connection, comparison) for comparison in ("=", "<>"))
        sample = _sample(connection, read_table(split, columns=["id"])["id"], rng)
    return SplitContents(shared, classes, members, nonmembers, _encoded(sample, schema))


def _shared(connection: DuckDBPyConnection, schema: Mapping[str, Any]) -> dict[str, int]:
    columns = ", ".join(identifier(column["name"]) for column in schema["columns"])
    keys = {"shared_ids": "id", "shared_copies": f"hash({columns})"} | (
        {"shared_groups": '"group"'} if schema["grouped"] else {}
    )
    return {
        name: connection.execute(
            f"SELECT count(*) FROM (SELECT {key} AS key FROM sided GROUP BY key HAVING min(side) <> max(side))"
        ).fetchone()[0]
        for name, key in keys.items()
    }


def _class_counts(connection: DuckDBPyConnection) -> list[NDArray[np.int64]]:
    counts = connection.execute(
        f"SELECT count(*) FILTER (side = '{MEMBERS}') AS inside, count(*) FILTER (side <> '{MEMBERS}') AS outside "
        "FROM sided GROUP BY target"
    ).df()
    return [counts[side].to_numpy() for side in ("inside", "outside")]


def _targets(connection: DuckDBPyConnection, comparison: str) -> Array:
    return connection.execute(f"SELECT target FROM sided WHERE side {comparison} '{MEMBERS}'").fetchnumpy()["target"]


def _sample(connection: DuckDBPyConnection, ids: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    places = np.sort(rng.choice(len(ids), min(ROWS, len(ids)), replace=False))
    connection.register("drawn", pd.DataFrame({"id": ids.iloc[places], "place": places}))
    return connection.execute("SELECT sided.* FROM sided JOIN drawn USING (id) ORDER BY drawn.place").df()


def _encoded(sample: pd.DataFrame, schema: Mapping[str, Any]) -> Sample:
    # The length of free text is enough to detect that one side has the longer texts.
    texts = [column["name"] for column in schema["columns"] if column["type"] == "text"]
    sample = sample.assign(**{name: sample[name].str.len() for name in texts})
    columns = [{**column, "type": "numeric"} if column["name"] in texts else column for column in schema["columns"]]
    features, _ = encode(sample, {**schema, "columns": columns})
    return Sample(features, (sample["side"] == MEMBERS).to_numpy(), unit_codes(sample))
