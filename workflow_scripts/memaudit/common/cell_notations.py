"""Notations of cells in users' tables, for the readers and for the options that name them. Standard library only."""

MISSING = ("?", "NA", "NaN", "nan")  # words that mean a missing value, beside an empty cell
SEPARATORS = (".", ",")  # of decimals
ORDERS = ("dmy", "mdy", "ymd")  # of the day, month and year of a date
