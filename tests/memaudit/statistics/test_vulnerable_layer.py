"""A layer of records, rounded up."""

from memaudit.statistics.vulnerable_layer import layer_size


def test_the_layer_is_rounded_up():
    assert [layer_size(0.1, members) for members in (20, 21, 30, 455)] == [2, 3, 3, 46]
