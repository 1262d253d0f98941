"""The description of a table, or of files of predictions, has only values that identify a request."""

import json
from dataclasses import FrozenInstanceError, asdict

import pytest

from memaudit.auditing.reading.request import MOST_ROWS, PredictionRequest, Request


def test_a_request_is_plain_and_fixed():
    request = Request("t.csv", "churn", by=["city"])
    assert json.loads(json.dumps(asdict(request)))["by"] == ["city"]
    assert (request.rows, request.seed, request.group) == (MOST_ROWS, 0, None)
    with pytest.raises(FrozenInstanceError):
        request.target = "age"
    request = PredictionRequest("a.csv", "b.csv", "churn", references=["c.csv"])
    assert json.loads(json.dumps(asdict(request)))["references"] == ["c.csv"]
    assert (request.rows, request.decimal, request.dates) == (MOST_ROWS, None, None)
