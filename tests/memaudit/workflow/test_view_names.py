"""Names in the files of views stand for values of any type, and unknown ones are faults."""

import pytest

from memaudit.workflow.view_names import Filling

NAMES = {"count": 3, "share": 0.25, "many": [8, 16], "none": []}


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("$count", 3),
        ("{$share:.0%} of {$count}", "25% of 3"),
        ({"where": {"models": [0, "$many"]}}, {"where": {"models": [0, 8, 16]}}),
        (["$none", {"each": {"size": "$many"}, "is": "$size", "text": "{$size} of {$count}"}],
         [{"is": 8, "text": "8 of 3"}, {"is": 16, "text": "16 of 3"}]),
        (["$count"], [3]),
        (1.5, 1.5),
    ],
)  # fmt: skip
def test_names_are_replaced_by_their_values(value, filled):
    filling = Filling()
    assert filling.fill(value, "", NAMES) == filled
    assert not filling.faults


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"title": "$counts"}, "title: unknown name $counts; did you mean"),
        ({"title": "{$many:.3g}"}, "title: {$many:.3g} does not fit [8, 16]"),
        ({"rows": [{"each": {"one": "$count"}}]}, "rows/0/each: must be one name with a list of values"),
    ],
)
def test_a_fault_names_its_place(value, fault):
    filling = Filling()
    filling.fill(value, "", NAMES)
    assert len(filling.faults) == 1
    assert filling.faults[0].startswith(fault)
