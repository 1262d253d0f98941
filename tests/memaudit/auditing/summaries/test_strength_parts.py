"""A control of an attack has all planted models, and no unknown key."""

import pytest
from audit_examples import value
from pydantic import ValidationError

from memaudit.auditing.summaries.strength_parts import AttackControl

WHOLE = {"attack": "white-box", "innocents": 0, "innocents_found": 0, "innocent_failed": False}


def test_no_part_of_a_control_is_taken_for_granted():
    whole = WHOLE | {"lookup": value(0.9, 0.8, 1.0, detected=True)}
    assert AttackControl(**whole).lookup.detected
    for name in whole:
        with pytest.raises(ValidationError):
            AttackControl(**{key: part for key, part in whole.items() if key != name})
    with pytest.raises(ValidationError):
        AttackControl(**whole, placebo=1)
