"""Predictions of reference models about the records of an audit, found by the records' ids."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from memaudit.auditing.predictions.prediction_readings import File, cleaned, read_file
from memaudit.auditing.reading.class_columns import ClassColumns, labels, probabilities
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.arrays import Array, Codes
from memaudit.common.errors import AuditError


def reference_file(path: str, request: PredictionRequest, scratch: Path, columns: ClassColumns, id_column: str) -> File:
    """A file of a reference model. Raises AuditError for a column that it lacks."""
    file = read_file(path, request, scratch)
    if lacking := [name for name in (id_column, *columns.columns) if name not in file.frame]:
        raise AuditError(f"{file.name}: has no column {lacking[0]!r}; a reference has the ids and probability columns")
    return file


def reference_probabilities(
    file: File,
    request: PredictionRequest,
    columns: ClassColumns,
    ids: pd.Index,
    codes: Codes,
    percent: Sequence[str],
    id_column: str,
) -> Array:
    """Probability (row,) of the true class by a reference model, its rows found by their ids."""
    own = pd.Index(cleaned(file.frame[id_column], request))
    if own.has_duplicates:
        raise AuditError(f"{file.name}: data row {int(np.argmax(own.duplicated())) + 1} has the id of an earlier row")
    places = own.get_indexer(ids)
    if (places < 0).any():
        raise AuditError(
            f"{file.name}: has no prediction of {int((places < 0).sum())} of {len(ids)} records of the two files; a "
            "reference model predicts all of them"
        )
    values = probabilities(file.frame, columns, file.name, percent)
    known = labels(cleaned(file.frame[request.target], request), columns, file.name)[places]
    if (known != codes).any():
        row = int(places[np.argmax(known != codes)]) + 1
        raise AuditError(f"{file.name}: data row {row} has another target than the record of the same id")
    return values[places, codes]
