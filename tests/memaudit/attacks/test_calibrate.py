"""Calibration refuses arrays that do not fit, and passes the rest to the method by its name."""

import numpy as np
import pytest

from memaudit.attacks.calibrate import METHODS, calibrate
from memaudit.common.errors import AuditError

SIGNALS = np.random.default_rng(0).normal(size=(16, 5))
MEMBERS = SIGNALS.argsort(0) < 8


def test_a_method_is_a_name_or_a_function_with_options():
    np.testing.assert_array_equal(calibrate(SIGNALS, MEMBERS, "raw"), SIGNALS)
    doubled = calibrate(SIGNALS, MEMBERS, lambda signals, design, by: by * signals, by=2)
    np.testing.assert_array_equal(doubled, 2 * SIGNALS)


def test_targets_are_the_first_models():
    np.testing.assert_array_equal(
        calibrate(SIGNALS, MEMBERS, "lira", targets=3), calibrate(SIGNALS, MEMBERS, "lira")[:3]
    )


@pytest.mark.parametrize(
    ("signals", "members", "method", "line"),
    [
        (SIGNALS, MEMBERS, "liar", f"choose one of {', '.join(METHODS)}"),
        (SIGNALS[:5], MEMBERS, "lira", "do not fit"),
        (SIGNALS, MEMBERS.astype(int), "lira", "booleans"),
        (np.where(np.arange(5) == 2, np.nan, SIGNALS), MEMBERS, "lira", "record 2 has a signal that is not finite"),
    ],
)
def test_a_fault_is_one_clear_line(signals, members, method, line):
    with pytest.raises(AuditError, match=line) as caught:
        calibrate(signals, members, method)
    assert "\n" not in str(caught.value)
