"""A prediction interval holds one more value, at its level."""

import numpy as np
import pytest

from memaudit.statistics.prediction_intervals import t_prediction_interval


@pytest.mark.parametrize("count", [3, 8])
def test_one_more_value_is_inside_in_95_percent(count):
    rng = np.random.default_rng(count)
    inside = []
    for _ in range(2000):
        *values, further = rng.normal(3, 2, count + 1)
        low, high = t_prediction_interval(np.array(values))
        inside.append(low <= further <= high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
