"""Types that sections share convert nothing in silence."""

import pytest
from pydantic import ValidationError

from memaudit.config.field_types import Adapter, Count, Fraction, Section, Sha256


class Example(Section):
    """A section with one key of each kind."""

    count: Count = 1
    share: Fraction = 0.5
    sha: Sha256 = "0" * 64


@pytest.mark.parametrize(
    "keys", [{"count": "1"}, {"count": 0}, {"share": 1.0}, {"sha": "0" * 63}, {"sha": "G" * 64}, {"cuont": 1}]
)
def test_a_value_of_another_type_or_an_unknown_key_is_refused(keys):
    with pytest.raises(ValidationError):
        Example.model_validate(keys)


def test_a_section_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Adapter().rank = 2
