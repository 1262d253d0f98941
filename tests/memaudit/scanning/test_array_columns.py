"""Arrays become columns along every axis that may count rows."""

import numpy as np
import pandas as pd

from memaudit.scanning.array_columns import as_places, as_written, candidates
from memaudit.scanning.inert_objects import Place
from memaudit.scanning.object_walk import Found
from memaudit.scanning.own_table import Column


def shapes(array):
    return [one.values.shape for one in candidates(Found(Place(""), array))]


def test_both_axes_may_count_rows():
    assert shapes(np.zeros((6, 9))) == [(6, 9), (9, 6)]
    assert shapes(np.zeros((1, 7, 2))) == [(7, 2)]
    assert shapes(np.zeros(4)) == []
    assert shapes(np.zeros((5, 5000))) == [(5000, 5)]


def test_fields_of_a_structured_array_are_columns():
    assert shapes(np.zeros(6, [("a", "i4"), ("b", "f8")])) == [(6, 2)]


def test_texts_are_codes_and_looked_up_by_name():
    array = np.array([["b", 1.5], ["a", None]] * 3, object)
    found = next(iter(candidates(Found(Place(""), array))))
    assert found.values[:2, 0].tolist() == [0, 1]
    assert found.texts[1] is None
    own = Column("x", np.zeros(2), False, ["a", "b"])
    assert as_places(found.texts[0], own)[:2].tolist() == [1, 0]


def test_texts_are_numbers_as_the_table_writes_them():
    texts = np.array(["1.234", "5.5", "a", None, "7"], object)
    own = Column("x", np.array([1234.0, np.nan, 7.0]), True, [], cells=pd.Series([" 1.234", "?", "7"]))
    assert own.written == {"1.234": 1234.0, "7": 7.0}
    np.testing.assert_array_equal(as_places(texts, own), [1234, 5.5, *[np.nan] * 2, 7])
    (found,) = candidates(Found(Place(""), texts))
    less = Column("y", np.array([7.5]), True, [], cells=pd.Series(["7"]))
    np.testing.assert_array_equal(as_written(found, [less, own]).values[:, 0], [1234, 5.5, *[np.nan] * 2, 7])
    np.testing.assert_array_equal(as_written(found, [Column("z", np.zeros(5), True, [])]).values, found.values)
