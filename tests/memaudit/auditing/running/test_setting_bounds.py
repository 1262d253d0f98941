"""Bounds of an audit's settings."""

import argparse
from pathlib import Path

import numpy as np
import pytest

from memaudit.auditing.reading.request import Request
from memaudit.auditing.runner import Settings
from memaudit.auditing.running import setting_bounds
from memaudit.common.errors import AuditError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"minutes": -1}, "--minutes: -1 is not a positive number"),
        ({"minutes": float("nan")}, "--minutes: nan is not a positive number"),
        ({"minutes": "2"}, "--minutes: '2' is no number"),
        ({"minutes": True}, "--minutes: True is no number"),
        ({"minutes": None}, "--minutes: None is no number"),
        ({"cores": 0}, "--cores: 0 is less than 1"),
        ({"shown": 2.5}, "--shown: 2.5 is no whole number"),
        ({"context_rows": -4}, "--context-rows: -4 is less than 1"),
        ({"base_rates": [0.1, 1]}, "--base-rates: 1 is not a share between 0 and 1"),
        ({"base_rates": []}, "--base-rates: name at least one"),
        ({"epsilon": [0.0]}, "--epsilon: 0.0 is not a positive number"),
        ({"show_values": "no"}, "--show-values: 'no' is neither True nor False"),
        ({"review_by": 2027}, "--review-by: 2027 is no text"),
        ({"threats": ["label"]}, "--threats: 'label' is unknown; did you mean `labels`?"),
    ],
)
def test_a_setting_out_of_bounds_is_refused(settings, message):
    with pytest.raises(AuditError) as error:
        setting_bounds.check(Settings(Path("f"), **settings))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"rows": 0}, "--rows: 0 is less than 1"),
        ({"seed": None}, "--seed: None is no whole number"),
        ({"seed": -1}, "--seed: -1 is less than 0"),
        ({"task": "ranking"}, "--task: 'ranking' is unknown; known: classification, regression"),
        ({"dates": "DMY"}, "--dates: 'DMY' is unknown; known: dmy, mdy, ymd"),
    ],
)
def test_a_request_out_of_bounds_is_refused(request_, message):
    with pytest.raises(AuditError) as error:
        setting_bounds.check(Request("t.csv", "y", **request_))
    assert str(error.value) == message


def test_defaults_and_numbers_of_numpy_are_in_bounds():
    setting_bounds.check(Settings(Path("f")))
    setting_bounds.check(Settings(Path("f"), minutes=np.float32(2), cores=np.int64(2), epsilon=(1, 2.5)))
    setting_bounds.check(Request("t.csv", "y", decimal=",", task="regression"))


def test_an_argument_of_the_command_has_the_same_bounds():
    assert setting_bounds.COUNT.parsed("3") == 3
    with pytest.raises(argparse.ArgumentTypeError, match=r"^-3 is not a positive number$"):
        setting_bounds.POSITIVE.parsed("-3")
    with pytest.raises(argparse.ArgumentTypeError, match=r"^1\.5 is no whole number$"):
        setting_bounds.COUNT.parsed("1.5")
