"""Columns of several files have one reading, whatever their types, and faults name the file and its row."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.predictions.prediction_readings import File, cleaned, read_alike, read_file
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.errors import AuditError

REQUEST = PredictionRequest("a.csv", "b.csv", "y")


def files(*columns, delimiter=";"):
    """Files called a, b, ... with one column x, whose rows are not numbered from 0."""
    frames = [pd.DataFrame({"x": cells}, index=range(5, 5 + len(cells))) for cells in columns]
    return [File("abc"[place], frame, "", delimiter is None, delimiter) for place, frame in enumerate(frames)]


def test_a_cell_of_one_file_decides_for_all(tmp_path):
    read, readings = read_alike(files(["1,234", "2,345"], ["0,5"], ["?"]), ["x"], REQUEST, tmp_path)
    assert [one.frame["x"].tolist()[:1] for one in read[:2]] == [[1.234], [0.5]]
    assert np.isnan(read[2].frame["x"].iloc[0])
    assert read[0].frame.index.tolist() == [5, 6]
    assert readings["x"].remark == "decimal comma"


@pytest.mark.parametrize(("delimiter", "read"), [(",", 1.234), (";", None)])
def test_two_readings_in_all_files_are_refused_unless_commas_delimit(tmp_path, delimiter, read):
    given = files(["1.234"] * 9, ["2.345"], delimiter=delimiter)
    if read is None:
        with pytest.raises(AuditError, match="column 'x': its numbers can be read in two ways"):
            read_alike(given, ["x"], REQUEST, tmp_path)
    else:
        assert read_alike(given, ["x"], REQUEST, tmp_path)[0][0].frame["x"].iloc[0] == read


def test_a_fault_names_the_file_and_its_data_row(tmp_path):
    with pytest.raises(AuditError, match=r"column 'x' mixes .*, the first in data row 2 of c;"):
        read_alike(files(["1,5"] * 5, ["2,5"] * 3, ["0,5", "1.5"]), ["x"], REQUEST, tmp_path, numeric=True)


def test_a_column_that_only_one_parquet_file_has_as_numbers_is_read(tmp_path):
    read, _ = read_alike(files([0.5, 2.0], ["1.5", None], delimiter=None), ["x"], REQUEST, tmp_path)
    np.testing.assert_array_equal(pd.concat([one.frame["x"] for one in read]), [0.5, 2, 1.5, np.nan])
    read, readings = read_alike(files([0.5], [2], delimiter=None), ["x"], REQUEST, tmp_path)
    assert ([one.frame["x"].tolist() for one in read], readings) == ([[0.5], [2]], {})


def test_without_columns_nothing_is_read(tmp_path):
    given = files(["a"], ["b"])
    assert read_alike(given, [], REQUEST, tmp_path) == (given, {})


def test_a_file_is_read_as_it_is(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5; a\n?;b\n")
    file = read_file(str(tmp_path / "a.csv"), REQUEST, tmp_path)
    assert (file.typed, file.delimiter, file.frame["x"].tolist()) == (False, ";", ["1,5", "?"])
    assert cleaned(file.frame["y"], REQUEST).tolist() == ["a", "b"]
    assert cleaned(file.frame["x"], REQUEST).isna().tolist() == [False, True]
    with pytest.raises(AuditError, match=r"a.csv': --target: there is no column 'z'"):
        read_file(str(tmp_path / "a.csv"), PredictionRequest("a.csv", "b.csv", "z"), tmp_path)
