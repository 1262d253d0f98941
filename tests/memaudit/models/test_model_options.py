"""Options of a family: defaults, and one line for an unknown name or another type."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.models.model_options import options_of

DEFAULTS = {"scale": False, "seed": 0}


def test_the_card_wins_over_the_defaults():
    assert options_of({"name": "x", "options": {"seed": 3}}, DEFAULTS) == {"scale": False, "seed": 3}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"sede": 1}, "x: unknown option 'sede'; known: scale, seed"),
        ({"seed": True}, "x: option seed must be like 0; it is True"),
        ({"scale": 1}, "x: option scale must be like False"),
    ],
)
def test_unknown_names_and_other_types_are_refused(options, line):
    with pytest.raises(AuditError, match=line):
        options_of({"name": "x", "options": options}, DEFAULTS)
