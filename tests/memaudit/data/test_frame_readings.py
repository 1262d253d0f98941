"""A file in memory: numbers and dates typed, codes and words as they are, and columns that are not read."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.column_readings import CODES, Choices, Reading
from memaudit.data.frame_readings import read_frame

ROWS = 40


def read(folder, choices=None, **columns):
    pd.DataFrame(columns).to_parquet(folder / "raw.parquet")
    return read_frame(folder / "raw.parquet", ("?",), choices or Choices())


def test_each_column_has_the_type_of_its_reading(tmp_path):
    pay = [f"{place},5" for place in range(ROWS - 1)] + ["?"]
    days = [f"{1 + place % 28:02d}.12.2024" for place in range(ROWS)]
    frame, readings = read(
        tmp_path, pay=pay, day=days, code=["00123", "00124"] * 20, word=["a", "b"] * 20, number=np.arange(ROWS)
    )
    np.testing.assert_array_equal(frame["pay"], [*(np.arange(ROWS - 1) + 0.5), np.nan])
    assert frame["day"].dt.day.tolist() == [1 + place % 28 for place in range(ROWS)]
    assert readings["code"].kind == CODES
    assert frame["code"].tolist() == ["00123", "00124"] * 20
    assert frame["word"].tolist() == ["a", "b"] * 20
    assert "number" not in readings
    assert list(frame) == ["pay", "day", "code", "word", "number"]


def test_a_column_that_the_user_calls_text_is_unchanged(tmp_path):
    frame, readings = read(tmp_path, Choices(types={"pay": "text"}), pay=["1,500"] * ROWS)
    assert frame["pay"].tolist() == ["1,500"] * ROWS
    assert readings["pay"] == Reading()


def test_two_readings_are_refused_unless_the_user_says_which(tmp_path):
    with pytest.raises(AuditError, match="two ways"):
        read(tmp_path, pay=["1,500", "2,250"] * 20)
    assert read(tmp_path, Choices(decimal=","), pay=["1,500", "2,250"] * 20)[0]["pay"].tolist() == [1.5, 2.25] * 20


def test_a_percent_sign_is_part_of_the_reading(tmp_path):
    frame, readings = read(tmp_path, share=["50 %", "25 %"] * 20, plain=["50", "25"] * 20)
    assert (readings["share"].percent, readings["plain"].percent) == (True, False)
    assert frame["share"].tolist() == frame["plain"].tolist() == [50, 25] * 20
