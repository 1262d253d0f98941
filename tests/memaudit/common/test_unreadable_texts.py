"""The error names the data set and its columns as their owner does, and how to leave them out."""

import pytest

from memaudit.common.unreadable_texts import unreadable_texts

COLUMNS = [{"name": "grosse", "source": "Größe"}, {"name": "note"}]
LINE = (
    "column 'Größe', 'note' holds texts that are no categories, which this model cannot read; leave it out by "
    "`drop: ['Größe', 'note']` in the table's entry of `datasets`"
)


@pytest.mark.parametrize(("schema", "where"), [({"dataset": "customers"}, "data set customers: "), ({}, "")])
def test_the_line_names_data_set_columns_and_remedy(schema, where):
    assert str(unreadable_texts(schema, COLUMNS)) == where + LINE
