"""The owner of a table is told of options, not of keys of a config."""

import inspect
import re

import pytest

from memaudit.auditing.reading import option_names
from memaudit.data import column_readings, column_schema, csv_to_parquet


@pytest.mark.parametrize("key", option_names.REMEDIES)
def test_every_replaced_remedy_is_one_that_the_readers_of_tables_name(key):
    sources = "".join(map(inspect.getsource, (column_readings, column_schema, csv_to_parquet)))
    text = re.sub(r'"\n\s+f?"', "", sources).replace("{{", "{").replace("}}", "}")
    assert re.search(key, text)


def test_a_message_names_options():
    message = (
        "column 'a`}' mixes 70 numbers with 10 words, the first in data row 3; declare it (types: {a`}: categorical}) "
        "or list the word under `missing`"
    )
    assert option_names.as_options(message) == (
        "column 'a`}' mixes 70 numbers with 10 words, the first in data row 3; name the column with --categorical, or "
        "the word with --missing"
    )


def test_a_name_in_quotation_marks_stays_as_it_is():
    message = "column 'a: see `drop`' and \"it's: see `drop`\": is target; see `drop`"
    assert option_names.as_options(message) == message.removesuffix("see `drop`") + "see --drop"
