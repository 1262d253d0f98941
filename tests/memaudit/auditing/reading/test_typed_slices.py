"""Typed cells of a table in slices: the same rows as in the table, and columns that are left out."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.reading.typed_slices import typed_slices
from memaudit.common.errors import AuditError
from memaudit.data.column_schema import COLUMNS_PER_QUERY, Roles, infer

ROWS, WIDTH = 70, 2 * COLUMNS_PER_QUERY + 1  # the last of three slices has one column


@pytest.fixture
def cells(tmp_path):
    """A connection, the columns and the slices of a wide table of texts with some more columns."""
    with duckdb.connect() as connection:

        def made(**more):
            rng = np.random.default_rng(0)
            frame = pd.DataFrame({f"x{i}": rng.integers(0, 9, ROWS) for i in range(WIDTH - len(more))} | more)
            frame = frame.assign(y=["a", "b"] * (ROWS // 2)).astype("string")
            connection.register("frame", frame.assign(file_row_number=np.arange(ROWS)))
            connection.execute("CREATE VIEW raw AS SELECT * FROM frame")
            features, target = infer(connection, Roles("classification", "y"))
            rename = {column.source: f"c{place}" for place, column in enumerate(features)}
            return connection, features, typed_slices(connection, features, rename, target.value, tmp_path), frame

        yield made


def test_the_copy_holds_the_drawn_rows_in_order(cells, tmp_path):
    connection, features, slices, frame = cells()
    drawn = [0, 3, 4, 69]
    with slices as typed:
        assert len(typed.columns) == 3
        connection.execute(
            "CREATE TABLE drawn AS SELECT unnest([69, 3, 0, 4]) AS place, 't' AS target, 'g' AS \"group\""
        )
        typed.copy(connection, [column for column in features if column.source != "x1"], tmp_path / "copy.parquet")
    copy = pd.read_parquet(tmp_path / "copy.parquet")
    assert list(copy) == ["row", "target", "c0", *(f"c{i}" for i in range(2, WIDTH)), "group"]
    assert copy["row"].tolist() == [place + 1 for place in drawn]
    for place in range(2, WIDTH):
        assert copy[f"c{place}"].tolist() == frame[f"x{place}"].astype(float)[drawn].tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["copy.parquet"]


def test_columns_that_number_the_rows_or_hold_nothing_are_found(cells):
    shuffled = np.random.default_rng(0).permutation(ROWS) + 7
    gap = [*range(ROWS - 1), ROWS]
    missing = [*range(ROWS - 2), None, None]
    connection, _, slices, _ = cells(number=shuffled, gap=gap, half=shuffled / 2, missing=missing)
    with slices as typed:
        assert typed.numbering_rows(connection) == {"number": "numbers the rows"}
        assert typed.without_value(connection) == {}


def test_a_number_beyond_single_precision_is_refused_where_the_column_is_kept(cells):
    connection, features, slices, _ = cells(pay=[1.0, -1e300, *[2.5] * (ROWS - 2)])
    with slices as typed:
        typed.check_range(connection, [column for column in features if column.source != "pay"])
        with pytest.raises(AuditError, match="column 'pay': data row 2 holds a number beyond"):
            typed.check_range(connection, features)
