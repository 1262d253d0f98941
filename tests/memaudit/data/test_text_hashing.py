"""Texts as hashed numbers: the same whoever else is there, near where words are shared, missing where missing."""

import numpy as np
import pandas as pd

from memaudit.data.text_hashing import HASHED, hashed

COLUMNS = [{"name": "age", "type": "numeric"}, {"name": "note", "type": "text"}]
RECORDS = pd.DataFrame(
    {
        "age": [1.0, 2.0, 3.0, 4.0],
        "note": ["rich cocoa, fatty, bready", "rich cocoa, fatty", "sandy, tar, papaya", None],
    }
)


def cells(records):
    table, schema = hashed(records, {"task": "classification", "columns": COLUMNS})
    names = [column["name"] for column in schema["columns"]]
    assert names == ["age", *(f"note #{place}" for place in range(HASHED))]
    assert {column["type"] for column in schema["columns"]} == {"numeric"}
    assert table["age"].tolist() == records["age"].tolist()
    return table[names[1:]].to_numpy()


def test_a_text_has_the_same_numbers_whoever_else_is_in_the_table():
    assert (cells(RECORDS)[:1] == cells(RECORDS.iloc[:1])).all()


def test_texts_that_share_words_are_nearer_than_those_that_do_not():
    one, like, unlike, _ = cells(RECORDS)
    assert np.allclose(np.linalg.norm([one, like, unlike], axis=1), 1, atol=1e-6)
    assert one @ like > 0.7 > one @ unlike


def test_a_missing_text_is_missing():
    assert np.isnan(cells(RECORDS)[3]).all()
