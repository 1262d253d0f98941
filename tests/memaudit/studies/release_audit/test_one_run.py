"""One release with many canaries bounds mu below its promise; with hardly any noise far above it."""

import numpy as np
import pytest

from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.studies.release_audit import one_run


def test_what_is_released_keeps_its_promise():
    found = one_run.audit(300, 4.0, np.random.default_rng(0))
    assert 0 < found.bounds.mu < found.promised
    assert 0 < found.possible < found.promised
    assert found.delta == pytest.approx(1 / (10 * 2 * one_run.EACH * 300))


def test_a_tenth_of_the_noise_is_found():
    found = one_run.audit(
        300, 1.0, np.random.default_rng(0), lambda center, sigma: discrete_gaussian(center, sigma / 10)
    )
    assert found.bounds.mu > found.promised
