"""Arms of `tabpate`: the method decides which settings an arm takes."""

import pytest
from pydantic import TypeAdapter, ValidationError

from memaudit.config import tabpate_arms
from memaudit.config.tabpate_arms import Method

ARMS = TypeAdapter(Method)


def test_the_shipped_arms_are_of_the_class_of_their_method(config):
    arms = {name: ARMS.validate_python(arm) for name, arm in config["tabpate"]["arms"].items()}
    assert {name: arm.method for name, arm in arms.items()} == {
        name: arm["method"] for name, arm in config["tabpate"]["arms"].items()
    }
    classes = {type(arm) for arm in arms.values()}
    assert classes == {one for one in tabpate_arms.Arm.__subclasses__() if one.__module__ == tabpate_arms.__name__}


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ({"method": "query-time", "settings": {"teachers": 4, "queries": 20}}, "queries"),
        ({"method": "prompt-pate", "settings": {"queries": 20}}, "teachers"),
        (
            {"method": "tabpate-tuned", "settings": {"teachers": 4, "queries": 20, "candidates": [0.1], "share": 0.1}},
            "candidates",
        ),
        ({"method": "dp-sgd", "settings": {"clip": 0}}, "clip"),
        ({"method": "by-hand", "settings": {}}, "by-hand"),
    ],
)
def test_settings_of_another_method_and_values_out_of_range_are_refused_by_name(arm, said):
    with pytest.raises(ValidationError, match=said):
        ARMS.validate_python(arm)
