"""The section `predictions`, which `./memaudit audit --predictions` writes."""

import pytest
from pydantic import ValidationError

from memaudit.auditing.prediction_audit import SETTINGS
from memaudit.config.predictions_section import Predictions

SECTION = SETTINGS | {"table": "t", "facts": "f", "base_rates": [0.1]}


def test_what_the_command_writes_is_valid():
    assert Predictions.model_validate(SECTION).permutations == SETTINGS["permutations"]


@pytest.mark.parametrize("fault", [{"permutations": 18}, {"base_rates": []}, {"fpr": 1.0}, {"offline_a": 2.0}])
def test_limits(fault):
    with pytest.raises(ValidationError):
        Predictions.model_validate(SECTION | fault)
