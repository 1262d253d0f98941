"""Types that sections share convert nothing in silence."""

import pytest
from conftest import load
from pydantic import ValidationError

from memaudit.config.check_config import checked
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


@pytest.mark.parametrize(
    ("study", "arm"), [("attacks", "tabular"), ("tabpate", "tuned_alpha"), ("iclmem", "lr_1e_3_shuffled")]
)
def test_an_arm_without_tables_is_left_out_and_no_other(study, arm):
    config = load()
    config["attacks"]["active"]["arms"] = ["main", "text"]
    every = checked(config)[study]["arms"]
    config[study]["arms"][arm]["datasets"] = []
    assert arm in every
    assert checked(config)[study]["arms"] == {name: there for name, there in every.items() if name != arm}
