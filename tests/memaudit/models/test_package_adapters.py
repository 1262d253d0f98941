"""Frames are like a user's; a context is fitted once for all lists of queries. The packages: test_packaged_models."""

import numpy as np
import pandas as pd
import pytest

from memaudit.models import package_adapters
from memaudit.models.package_adapters import Opening, answered, frame, opened

COLUMNS = [
    {"name": "age", "type": "numeric"},
    {"name": "colour", "type": "categorical", "categories": ["blue", "red"]},
    {"name": "born", "type": "date"},
]
ROWS = np.array([[3.5, 1, 365], [np.nan, np.nan, np.nan], [-1, 0, 0]])


def test_a_frame_has_texts_dates_and_gaps():
    rows = frame(ROWS, COLUMNS)
    assert rows["colour"].tolist() == ["red", None, "blue"]
    assert rows["born"].tolist()[::2] == [pd.Timestamp("1971-01-01"), pd.Timestamp("1970-01-01")]
    assert rows.isna().sum().tolist() == [1, 1, 1]
    assert rows["age"].dtype == np.float64


def test_dates_are_days_where_a_package_takes_none():
    np.testing.assert_array_equal(frame(ROWS, COLUMNS, dates=False)["born"], ROWS[:, 2])


def test_weights_that_are_not_there_are_named(tmp_path):
    given = Opening(str(tmp_path / "none"), "classification", None, {}, COLUMNS, "cpu", 1)
    with pytest.raises(FileNotFoundError, match="none does not exist"):
        opened("TabDPT", given)
    given = Opening("w", "classification", None, {"n_estimators": None}, COLUMNS, "cpu", 1)
    assert given.views() == {}


class Counting:
    """Answers with the number of its fits and the rows of the query."""

    def __init__(self, given):
        self.fits = 0

    def fit(self, x, y):
        self.fits += 1
        if y[0] > 9:
            raise ValueError("too many classes")

    def predict(self, x):
        return {"probabilities": np.array([self.fits, len(x)])}


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setitem(package_adapters.ADAPTERS, "Counting", Counting)


def test_a_context_is_fitted_once_for_all_lists_of_queries():
    answers = answered(Counting(None), ROWS, np.zeros(3), [ROWS, ROWS[:1]])
    assert [one["probabilities"].tolist() for one in answers] == [[1, 3], [1, 1]]


def test_the_number_of_views_is_named_as_the_package_names_it():
    given = Opening("w", "classification", None, {"n_estimators": 3}, COLUMNS, "cpu", 1)
    assert given.views() == {"n_estimators": 3}
    assert given.views("n_ensembles") == {"n_ensembles": 3}
