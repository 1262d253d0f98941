"""The options that say how a table is read are the same for every command, and those of the requests."""

from argparse import ArgumentParser
from dataclasses import fields
from typing import get_args

import pytest

from memaudit.auditing.reading import reading_options
from memaudit.auditing.reading.reading_options import ReadingOptions
from memaudit.auditing.reading.request import PredictionRequest, Request
from memaudit.common.cell_notations import ORDERS, SEPARATORS
from memaudit.config.shared_keys import Dataset


def parsed(*arguments):
    parser = ArgumentParser()
    reading_options.add_arguments(parser)
    return reading_options.chosen(parser.parse_args(arguments))


def test_what_is_given_is_chosen():
    assert parsed() == ReadingOptions()
    given = ["--drop", "a", "b", "--missing", "x", "--delimiter", ";", "--decimal", ",", "--dates", "mdy"]
    assert parsed(*given) == ReadingOptions(drop=["a", "b"], missing=["x"], delimiter=";", decimal=",", dates="mdy")
    with pytest.raises(SystemExit):
        parsed("--decimal", ";")


def test_help_names_the_words_signs_and_orders_that_the_readers_know():
    for key, known in (("decimal", SEPARATORS), ("dates", ORDERS)):
        assert get_args(get_args(Dataset.model_fields[key].annotation)[0]) == known
    parser = ArgumentParser()
    reading_options.add_arguments(parser)
    assert "beside an empty cell and ?, NA, NaN, nan" in " ".join(parser.format_help().split())


@pytest.mark.parametrize("request_type", [Request, PredictionRequest])
def test_every_request_has_these_options(request_type):
    assert {*reading_options.NAMES} <= {one.name for one in fields(request_type)}
