"""Features of files of predictions: types, what is left out, and rows in messages."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.predictions.prediction_features import MOST_CATEGORIES, Settings, read_features
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table

SETTINGS = Settings("y", [], [], [], False)
ROWS = 60


def table(**columns):
    return pd.DataFrame({"y": ["a", "b"] * ROWS} | {name: list(map(str, cells)) for name, cells in columns.items()})


def read(path, frame, settings=SETTINGS):
    write_table(frame, path / "both.parquet")
    return read_features(path / "both.parquet", [ROWS, ROWS], ["'m.csv'", "'n.csv'"], settings)


def test_numbers_categories_and_dates_become_numbers(tmp_path):
    days = pd.date_range("2024-01-01", periods=3).astype(str)
    found = read(tmp_path, table(age=np.arange(120) % 7 / 2, town=["b", "c", "b"] * 40, day=[*days] * 40))
    assert found.types == {"age": "numeric", "town": "categorical", "day": "date"}
    assert list(found.categorical) == [False, True, False]
    assert found.values[:3, 0] == pytest.approx([0, 0.5, 1])
    assert found.values[:3, 1] == pytest.approx([0, 1, 0])
    assert np.diff(found.values[:3, 2]) == pytest.approx([1, 1])


def test_what_numbers_the_rows_is_free_text_or_empty_is_left_out(tmp_path):
    notes = [f"note {place}" for place in range(120)]
    ids = [f"K{place * 7}" for place in range(120)]
    found = read(
        tmp_path,
        table(
            number=np.arange(120), each=[*range(60), *range(60)], note=notes, badge=ids, none=[""] * 120, x=[1, 2] * 60
        ),
    )
    reasons = {
        "number": "numbers the rows",
        "each": "numbers the rows",
        "note": "free text",
        "badge": "an identifier: hardly any value repeats",
        "none": "missing in every row",
    }
    assert found.left_out == reasons
    assert list(found.types) == ["x"]
    assert sorted(found.texts) == ["badge", "note"]


def test_codes_are_categories_and_left_out_where_they_are_too_many(tmp_path):
    codes = table(few=[f"{place % 3:03d}" for place in range(120)], many=[f"0{place}" for place in range(120)])
    found = read(tmp_path, codes, SETTINGS._replace(codes=["few", "many"]))
    assert found.types == {"few": "categorical"}
    assert found.left_out == {"many": "codes of too many values"}


def test_rare_categories_are_one(tmp_path):
    codes = [f"c{place % 300}" for place in range(120)]
    settings = SETTINGS._replace(categorical=["code"])
    assert read(tmp_path, table(code=codes), settings).values.max() <= MOST_CATEGORIES


def test_a_fault_names_the_row_of_its_file(tmp_path):
    cells = ["1"] * 119 + ["x"]
    with pytest.raises(AuditError, match=r"data row 60 of 'n.csv'.*--categorical"):
        read(tmp_path, table(age=cells))


def test_files_without_features_have_none(tmp_path):
    found = read(tmp_path, table())
    assert found.values.shape == (120, 0)
