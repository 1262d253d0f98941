"""Frames in the user's form, made of the codes that models read."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.record_encoding import encode
from memaudit.models.user_frames import UserFrame, labels_of, places_of, texts

FRAME = pd.DataFrame(
    {
        "whole": [1, 2, 3],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "short": np.array([0.5, 1.5, 2.5], dtype=np.float32),
        "town": ["Bath", "Ely", None],
        "grade": pd.Categorical([3, 1, 3], categories=[1, 2, 3], ordered=True),
        "member": [True, False, True],
        "agreed": pd.Categorical([True, False, True]),
        "asked": pd.array([True, None, False], dtype="boolean"),
        "day": pd.to_datetime(["2020-01-01", "2021-02-03", None]),
        "zoned": pd.to_datetime(["2020-01-01", "2021-02-03", "2022-03-04"]).tz_localize("Europe/Berlin"),
    }
)
TYPES = {"nullable": "numeric", "whole": "numeric", "short": "numeric", "day": "date", "zoned": "date"}


def as_stored(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def words_of(values):
    """Categories are written as str() has them, other booleans by Parquet."""
    as_text = str if isinstance(values.dtype, pd.CategoricalDtype) else as_stored
    return values.astype(object).map(as_text, "ignore")


def schema_and_records(frame):
    """As the intake stores them: categories as texts, times in UTC."""
    stored, columns = {}, []
    for place, (name, values) in enumerate(frame.items()):
        kind = TYPES.get(name, "categorical")
        column = {"name": f"c{place}", "type": kind}
        if kind == "categorical":
            words = words_of(values)
            stored[f"c{place}"], column["categories"] = words, sorted(words.dropna().unique())
        elif kind == "date":
            stored[f"c{place}"] = values.dt.tz_convert("UTC").dt.tz_localize(None) if values.dt.tz else values
        else:
            stored[f"c{place}"] = values.astype(float)
        columns.append(column)
    schema = {"task": "regression", "columns": columns, "target": {"name": "target", "type": "numeric"}}
    return schema, pd.DataFrame(stored).assign(target=0.0)


@pytest.mark.parametrize("array", [False, True])
def test_a_table_has_its_form_again(array):
    schema, records = schema_and_records(FRAME)
    form = UserFrame.of(FRAME, pd.Series([0, 1, 0]), [column["name"] for column in schema["columns"]], array)
    restored = form.restored(encode(records, schema)[0], schema)
    if array:
        assert restored[:, 3].tolist()[:2] == ["Bath", "Ely"]
        return
    pd.testing.assert_frame_equal(restored.drop(columns="zoned"), FRAME.drop(columns="zoned"))
    assert restored["zoned"].dtype == FRAME["zoned"].dtype
    assert (restored["zoned"] - FRAME["zoned"]).abs().max() < pd.Timedelta("3min")  # days as float32


def test_names_that_are_no_texts_stay():
    frame = pd.DataFrame([[1.0, 2.0]], columns=[0, 7])
    schema = {"columns": [{"name": name, "type": "numeric"} for name in ("c0", "c1")]}
    restored = UserFrame.of(frame, pd.Series([0]), ["c0", "c1"]).restored(np.array([[1.0, 2.0]]), schema)
    assert restored.columns.tolist() == [0, 7]


def test_a_column_that_is_left_out_is_named():
    frame = pd.DataFrame({"age": [1.0], "note": ["x"]})
    form = UserFrame.of(frame, pd.Series([0]), ["c0", "c1"])
    with pytest.raises(AuditError, match="leaves columns out that the estimator may read: 'note'"):
        form.restored(np.array([[1.0]]), {"columns": [{"name": "c0", "type": "numeric"}]})


def test_classes_are_the_users():
    form = UserFrame.of(pd.DataFrame({"a": [1.0]}), pd.Series([2, 1, 2]), ["c0"])
    classes = form.classes({"target": {"categories": ["1", "2"]}})
    assert labels_of(np.array([1, 0]), classes).tolist() == [2, 1]
    assert places_of(np.array([2, 1]), classes).tolist() == [1, 0]
    assert form.classes({"target": {"name": "target"}}) is None
    with pytest.raises(AuditError, match="the target: a category is read as another text"):
        form.classes({"target": {"categories": ["one"]}})


def test_texts_of_numbers_and_booleans_stand_for_these():
    assert texts(pd.Series([1.0, 2.5, None])) == {"1.0": 1.0, "1": 1.0, "2.5": 2.5}
    assert texts(pd.Series([True, False])) == {"true": True, "True": True, "false": False, "False": False}
