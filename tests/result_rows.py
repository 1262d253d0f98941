"""Rows of a table of results by the values of its columns."""


def chosen(table, **keys):
    """The rows with these values; None: without a value."""
    for key, value in keys.items():
        if value is not None:
            table = table[table[key] == value]
        elif key in table:
            table = table[table[key].isna()]
    return table


def only(table, **keys):
    """The one row with these values."""
    rows = chosen(table, **keys)
    assert len(rows) == 1, (keys, len(rows))
    return rows.iloc[0]
