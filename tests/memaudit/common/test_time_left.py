"""The time left follows a run's own pace, and is a range around it."""

import pytest

from memaudit.common.time_left import WARM_UP, between, seconds_left


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20, "less than a minute"), (50, "up to 2 min"), (300, "2 to 10 min"), (7200, "1.0 to 4.0 h")],
)
def test_the_time_left_is_a_range(seconds, text):
    assert between(seconds) == text


def test_the_own_pace_of_a_run_decides_more_and_more():
    assert seconds_left(0.0, 100.0, 0.0) == 100.0
    assert seconds_left(0.0, 100.0, 0.0, workers=2) == 50.0
    ten_times_slower = [seconds_left(done, 100.0, 10 * done) for done in (1, 10, 100, 1000)]
    assert ten_times_slower == sorted(ten_times_slower)
    assert ten_times_slower[0] < 200
    assert ten_times_slower[-1] == pytest.approx(1000, rel=0.05)
    assert seconds_left(0.0, 100.0, 3 * WARM_UP) == 400.0
