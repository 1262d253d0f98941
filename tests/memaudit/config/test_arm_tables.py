"""Tables of an arm."""

from memaudit.config.arm_tables import tables_of


def test_null_is_every_table_and_an_empty_list_none():
    every = ["wine", "digits"]
    assert [tables_of(named, every) for named in (None, [], ["wine"])] == [every, [], ["wine"]]
