"""Summaries of a setting over its splits."""

import numpy as np
import pytest

from memaudit.studies.iclmem.setting_summaries import summary


def test_summaries_are_students_t_over_splits_that_have_a_value_widened_for_skewness():
    observed = summary(np.array([0.5, 0.6, np.nan, 0.7]))
    assert observed["estimate"] == pytest.approx(0.6)
    assert observed["high"] - observed["estimate"] == pytest.approx(
        (1 + 2.5 / 3) * 4.302653 * 0.1 / np.sqrt(3), rel=1e-6
    )
    assert "3 of 4 splits" in observed["method"]
    assert "low" not in summary(np.array([np.nan]))
