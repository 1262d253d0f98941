"""Types of columns, detected and declared, and one line for each kind of bad data."""

import numpy as np
import pandas as pd
from raw_tables import made, people, types

from memaudit.data.record_encoding import encode


def test_types_of_text_columns(tmp_path):
    n = 100
    frame = pd.DataFrame(
        {
            "number": [f" {i}.50" for i in range(n)],
            "few": ["a", "b"] * (n // 2),
            "flag": ["true", "false"] * (n // 2),
            "day": [f"2024-01-{i % 28 + 1:02d}" for i in range(n)],
            "essay": [f"an essay about {i}" for i in range(n)],
            "y": ["0", "1"] * (n // 2),
        }
    )
    records, schema, _ = made(frame, tmp_path)
    assert types(schema) == {
        "number": "numeric", "few": "categorical", "flag": "categorical", "day": "date", "essay": "text"
    }  # fmt: skip
    assert records["number"].tolist()[:2] == [0.5, 1.5]
    assert schema["columns"][1]["categories"] == ["a", "b"]


def test_text_of_a_typed_source_is_no_number_and_no_date(tmp_path):
    day, mixed = ["2024-01-01", "2024-01-02"] * 20, ["10-12", "8"] * 20
    frame = people(zip=[f"0{i}" for i in range(40)], day=day, mixed=mixed)
    _, schema, _ = made(frame, tmp_path, typed=True)
    assert types(schema) == {
        "age": "numeric", "job": "categorical", "zip": "text", "day": "categorical", "mixed": "categorical"
    }  # fmt: skip


def test_a_wide_table_is_read(tmp_path):
    pixels = pd.DataFrame(rng_pixels := np.random.default_rng(0).integers(0, 256, (20, 1100)))
    records, schema, _ = made(pixels.rename(columns=str).assign(y=["cat", "dog"] * 10), tmp_path)
    assert len(schema["columns"]) == 1100
    np.testing.assert_array_equal(encode(records, schema)[0], rng_pixels)


def test_native_types_and_declared_types(tmp_path):
    frame = people(day=pd.date_range("2024-01-01", periods=40), code=np.arange(40) % 3, yes=np.arange(40) % 2 == 0)
    _, schema, _ = made(frame, tmp_path, types={"code": "categorical"})
    assert types(schema) == {
        "age": "numeric", "job": "categorical", "day": "date", "code": "categorical", "yes": "categorical"
    }  # fmt: skip
    assert schema["columns"][3]["categories"] == ["0", "1", "2"], "whole numbers, as a reader writes them"


def test_marks_of_missing_values_become_missing(tmp_path):
    frame = people(pay=["?", "", "NA", " nan ", None, *map(str, range(35))])
    records, schema, _ = made(frame, tmp_path)
    assert types(schema)["pay"] == "numeric"
    assert schema["columns"][2]["missing"] == records["pay"].isna().sum() == 5
    _, schema, _ = made(people(job=["-", *["cook"] * 39]), tmp_path, missing=["-"])
    assert schema["columns"][1]["categories"] == ["cook"]


def test_classes_and_categories_are_sorted_numbers_by_size(tmp_path):
    frame = pd.DataFrame({"x": range(24), "y": [str(i % 12) for i in range(24)]})
    _, schema, _ = made(frame, tmp_path)
    assert schema["target"]["categories"] == [str(i) for i in range(12)]


def test_features_named_like_our_columns_get_other_names(tmp_path):
    frame = people(id=range(40), group=range(40), side=range(40), target=range(40), target_=range(40))
    records, schema, _ = made(frame, tmp_path)
    assert [column["source"] for column in schema["columns"]][2:] == ["id", "group", "side", "target", "target_"]
    assert list(records)[3:-1] == ["id_", "group_", "side_", "target__", "target_"]
    assert records["id"].str.fullmatch("[0-9a-f]{32}").all()


def test_mixed_columns_pass_once_the_user_says_what_they_are(tmp_path):
    frame = people(pay=["none", *map(str, range(39))])
    assert types(made(frame, tmp_path, types={"pay": "categorical"})[1])["pay"] == "categorical"
    assert types(made(frame, tmp_path, missing=["none"])[1])["pay"] == "numeric"
    assert "pay" not in types(made(frame, tmp_path, drop=["pay"])[1])
