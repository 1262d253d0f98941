"""The intraclass correlation against the recorded example of Shrout and Fleiss (1979)."""

import numpy as np
import pytest

from memaudit.statistics.intraclass_correlation import icc

# Six targets (the "splits") rated by four judges (the "runs"); their ICC(3,1) = ICC(C,1) is .71.
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float).T


def test_the_estimate_is_the_recorded_one():
    residuals = RATINGS - RATINGS.mean(axis=1, keepdims=True)
    common = residuals.mean(axis=0)
    within = np.square(residuals - common).sum() / (5 * 3)
    found = icc(common.var(ddof=1), within, 4, 6)
    assert found["estimate"] == pytest.approx(0.7148, abs=1e-4)
    assert found["low"] < found["estimate"] < found["high"]


def test_runs_that_deviate_alike_have_one_and_runs_without_a_common_part_less_than_zero():
    assert icc(1.0, 0.0, 4, 6) == {"estimate": 1.0, "low": 1.0, "high": 1.0}
    assert icc(0.0, 1.0, 4, 6)["estimate"] == pytest.approx(-1 / 3)
