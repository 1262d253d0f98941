"""Tidy results keep the keys of their settings."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy


def rows():
    grid = [(name, m, strategy) for name in ("wine", "iris") for m in (1, 2) for strategy in ("naive", "pp")]
    keys = [{"dataset": name, "models": m, "strategy": strategy} for name, m, strategy in grid]
    return tidy.frame([tidy.row("lira", key, "tpr", 0.1 * key["models"], low=0.01, high=0.2) for key in keys])


def test_a_setting_can_be_read_back():
    table = tidy.expand(rows())
    assert table["dataset"].unique().tolist() == ["wine", "iris"]
    assert table["models"].dtype == np.int64
    assert "setting" not in table


def test_a_data_set_that_is_called_like_a_number_keeps_its_name():
    table = tidy.expand(tidy.frame([tidy.row("lira", {"dataset": "2024", "models": 8}, "auc", 0.5)]))
    assert table["dataset"][0] == "2024"
    assert table["models"][0] == 8


@pytest.mark.parametrize("value", ["a, b", "a=b"])
def test_a_setting_that_could_not_be_read_back_is_refused(value):
    with pytest.raises(ValueError, match="neither '=' nor ', '"):
        tidy.setting({"dataset": value})


def test_keys_that_some_rows_lack_are_missing_there():
    both = tidy.frame([tidy.row("lira", {"a": 1}, "x", 0), tidy.row("lira", {"b": "text"}, "x", 0)])
    table = tidy.expand(both)
    assert table["a"].tolist()[0] == 1
    assert pd.isna(table["a"][1])
    assert pd.isna(table["b"][0])
