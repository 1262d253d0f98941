"""Post-processed signals: one OUT distribution for every record."""

import numpy as np
import pytest
from scipy.stats import kstest, t

from memaudit.attacks.calibrate import calibrate


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(11)
    membership = rng.random((16, 4000)).argsort(0) < 8
    scale, sign = np.exp(rng.normal(size=4000)), rng.choice([-1, 1], size=4000)
    return (rng.normal(size=(16, 4000)) + 2.0 * sign * membership) * scale + 7, membership


def test_non_members_follow_student_t_exactly_when_ddof_is_1(grid):
    signals, membership = grid
    scores = calibrate(signals, membership, "postprocessed", convention="ddof1", leave="self")
    # One non-member target per record: those of a record share their shadow models.
    first_out = np.argmin(membership, axis=0)
    standard = scores[first_out, np.arange(4000)] / np.sqrt(1 + 1 / 7)
    assert kstest(standard, t(6).cdf).pvalue > 0.01


def test_the_gap_counts_in_its_own_direction(grid):
    signals, membership = grid
    scores = calibrate(signals, membership, "postprocessed")
    assert scores[membership].mean() > 1.5
    flipped = calibrate(-signals, membership, "postprocessed")
    np.testing.assert_allclose(flipped, scores, rtol=1e-9, atol=1e-9)


def test_scale_and_place_of_a_record_do_not_matter(grid):
    signals, membership = grid
    np.testing.assert_allclose(
        calibrate(signals * 100 - 3, membership, "postprocessed"),
        calibrate(signals, membership, "postprocessed"),
        rtol=1e-7,
    )
