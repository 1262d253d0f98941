"""Variants of contexts are called by what differs from the usual ones."""

import pytest

from memaudit.config.attacks_section import Variant
from memaudit.config.context_variants import DEFAULTS, variant_name


def test_the_defaults_are_those_of_the_config():
    assert Variant().model_dump() == dict(DEFAULTS)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({}, "usual"),
        ({"copies": 5}, "copies 5"),
        ({"order": 1, "features": 4}, "features 4 order 1"),
        ({"shares": [0.5, 0.7]}, "shares 0.5 0.7"),
    ],
)
def test_a_name_says_what_differs(changed, name):
    assert variant_name(dict(DEFAULTS) | changed) == name
