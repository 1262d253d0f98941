"""The description of a table has only values that identify a request."""

import json
from dataclasses import FrozenInstanceError, asdict

import pytest

from memaudit.auditing.request import MOST_ROWS, Request


def test_a_request_is_plain_and_fixed():
    request = Request("t.csv", "churn", by=["city"])
    assert json.loads(json.dumps(asdict(request)))["by"] == ["city"]
    assert (request.rows, request.seed, request.group) == (MOST_ROWS, 0, None)
    with pytest.raises(FrozenInstanceError):
        request.target = "age"
