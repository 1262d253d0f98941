"""Rows of a reference model are found by their ids; a fault is one line that names the file and the row."""

import numpy as np
import pandas as pd
import pytest

from memaudit.auditing.predictions.prediction_readings import File
from memaudit.auditing.predictions.reference_predictions import reference_file, reference_probabilities
from memaudit.auditing.reading.class_columns import ClassColumns
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.errors import AuditError

COLUMNS, REQUEST = ClassColumns(["p_a", "p_b"], ["a", "b"]), PredictionRequest("m.csv", "n.csv", "y")
FRAME = pd.DataFrame({"key": ["3", "1", "2"], "y": ["b", "a", "a"], "p_a": [0.1, 0.7, 0.6], "p_b": [0.9, 0.3, 0.4]})
IDS, CODES = pd.Index(["1", "2", "3"]), np.array([0, 0, 1])


def probabilities(frame):
    file = File("'r.csv'", frame.reset_index(drop=True), "", False, ",")
    return reference_probabilities(file, REQUEST, COLUMNS, IDS, CODES, [], "key")


def test_probabilities_of_the_true_class_are_in_the_order_of_the_ids():
    assert probabilities(FRAME) == pytest.approx([0.7, 0.6, 0.9])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.concat([FRAME, FRAME[:1]]), "data row 4 has the id of an earlier row"),
        (FRAME[1:], "no prediction of 1 of 3 records"),
        (FRAME.assign(y=["b", "b", "a"]), "data row 2 has another target than the record of the same id"),
    ],
)
def test_a_fault_of_a_row_is_refused(frame, message):
    with pytest.raises(AuditError, match=message):
        probabilities(frame)


def test_a_reference_has_the_ids_and_all_probability_columns(tmp_path):
    FRAME.to_csv(tmp_path / "r.csv", index=False)
    read = reference_file(str(tmp_path / "r.csv"), REQUEST, tmp_path, COLUMNS, "key")
    assert list(read.frame["key"].astype(str)) == list(FRAME["key"])
    with pytest.raises(AuditError, match="has no column 'id'"):
        reference_file(str(tmp_path / "r.csv"), REQUEST, tmp_path, COLUMNS, "id")
    with pytest.raises(AuditError, match="has no column 'p_c'"):
        reference_file(str(tmp_path / "r.csv"), REQUEST, tmp_path, ClassColumns(["p_a", "p_c"], ["a", "c"]), "key")
