"""An entry names its adversary and threat model for readers."""

import numpy as np
import pytest

from memaudit.attacks.attack_entry import LABELS, PROBABILITIES, WHITE_BOX, Attack, Entry


@pytest.mark.parametrize(
    ("reads", "active", "threat", "adversary"),
    [
        (LABELS, False, "label-only passive", "reads labels, one query"),
        (PROBABILITIES, True, "probabilities active", "reads probabilities, one query"),
        (WHITE_BOX, False, "white-box passive", "reads probabilities and attention, one query"),
    ],
)
def test_threat_model_and_adversary_are_what_is_read_and_done(reads, active, threat, adversary):
    entry = Entry("An attack", "a signal", reads=reads, active=active)
    assert (entry.threat, entry.adversary) == (threat, adversary)


def test_an_attack_has_its_data_and_no_options_unless_given():
    signals = np.zeros((2, 3))
    made = Attack(signals, "raw")
    assert made.signals is signals
    assert (made.method, dict(made.options)) == ("raw", {})
