"""Files of predictions in memory, and columns in any notation of numbers and dates that are read jointly."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from memaudit.auditing.predictions.prediction_features import in_place
from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.column_hints import column_hint
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.cell_notations import MISSING
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.data.column_readings import NUMERIC, Choices, Reading
from memaudit.data.frame_readings import read_frame


class File(NamedTuple):
    """A file: its name for messages, its rows, its sha256, whether its columns have types, and a CSV's delimiter."""

    name: str
    frame: pd.DataFrame
    sha256: str
    typed: bool
    delimiter: str | None


def read_file(path: str, request: PredictionRequest, scratch: Path) -> File:
    """A file, its cells unchanged. Raises AuditError that names it as the user did."""
    name = repr(str(path))
    fetched = source_file.fetched(path, _folder(scratch), request.encoding, request.delimiter)
    frame = pd.read_parquet(fetched.raw)
    if request.target not in frame:
        known = list(frame.columns)
        raise AuditError(f"{name}: --target: there is no column {request.target!r}{column_hint(request.target, known)}")
    return File(name, frame, fetched.origin["sha256"], fetched.origin["typed"], fetched.delimiter)


def read_alike(
    files: Sequence[File], columns: Sequence[str], request: PredictionRequest, scratch: Path, numeric: bool = False
) -> tuple[list[File], dict[str, Reading]]:
    """The files with these columns read jointly, so that each has one reading in all files, and these readings.

    numeric: whether all columns hold numbers. Raises AuditError that names column, file and data row.
    """
    if not columns:
        return list(files), {}
    every = pd.concat([one.frame[columns] for one in files], ignore_index=True)
    for name in every:
        if every[name].dtype == object and len({one.frame[name].dtype for one in files}) > 1:
            every[name] = every[name].map(str, na_action="ignore")  # typed in one Parquet file, texts in another
    choices = Choices(
        types=dict.fromkeys(request.categorical, "categorical") | dict.fromkeys(columns if numeric else (), NUMERIC),
        decimal=request.decimal,
        dates=request.dates,
        comma_delimited=all(one.delimiter == "," for one in files),
    )
    joined = _folder(scratch) / "joined.parquet"
    write_table(every, joined)
    try:
        frame, readings = read_frame(joined, (*MISSING, *request.missing), choices)
    except AuditError as error:
        raise AuditError(in_place(str(error), [len(one.frame) for one in files], [one.name for one in files])) from None
    read, start = [], 0
    for one in files:
        part = frame[start : start + len(one.frame)].set_index(one.frame.index)
        read.append(one._replace(frame=one.frame.assign(**part)))
        start += len(part)
    return read, readings


def cleaned(cells: pd.Series, request: PredictionRequest) -> pd.Series:
    """Cells as text without outer blanks, missing where empty or a mark of a missing value."""
    text = cells.map(lambda cell: str(cell).strip(), na_action="ignore").astype(object)
    return text.mask(text.isin(["", *MISSING, *request.missing]) | text.isna(), None)


def _folder(scratch: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=scratch))
