"""A table is read as numbers and categories, and columns that recognise nobody are known."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.scanning import own_table


def column(values):
    return own_table.Column("a", np.asarray(values, float), True, [])


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_columns_are_numbers_and_sorted_categories(tmp_path, suffix):
    frame = pd.DataFrame({"a": [1.5, 2, None, 4, 5], "b": ["y", "x", None, "y", "?"], "c": [True, False] * 2 + [True]})
    path = tmp_path / f"t.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    a, b, _ = own_table.read(str(path))
    np.testing.assert_array_equal(a.values, [1.5, 2, np.nan, 4, 5])
    np.testing.assert_array_equal(b.values, [1, 0, np.nan, 1, np.nan])
    assert b.names == ["x", "y"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_that_cannot_be_read_is_one_line_with_its_name(tmp_path):
    for name, text in (("none.csv", None), ("short.csv", "a,b\n1,2\n"), ("ragged.csv", "a,b\n" + "1,2,3\n" * 9)):
        if text:
            (tmp_path / name).write_text(text)
        with pytest.raises(AuditError) as error:
            own_table.read(str(tmp_path / name))
        assert name in str(error.value)
        assert "\n" not in str(error.value)


def test_only_values_at_uneven_distances_recognise_rows():
    rng = np.random.default_rng(0)
    assert column(rng.normal(size=50)).recognises
    assert not column(np.arange(50)).recognises
    assert not column(rng.integers(18, 90, 500)).recognises
    assert not column(rng.normal(size=10)).recognises


def test_an_order_without_equal_values_or_a_sorted_one_is_no_evidence():
    rng = np.random.default_rng(0)
    assert own_table.informative(own_table.appearance(rng.integers(0, 2, 100)))
    assert not own_table.informative(own_table.appearance(rng.normal(size=100)))
    assert not own_table.informative(own_table.appearance(np.repeat([0, 1], 50)))
    assert not own_table.informative(own_table.appearance(rng.integers(0, 2, 20)))
