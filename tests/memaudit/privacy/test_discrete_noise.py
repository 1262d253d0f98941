"""Discrete noise has exactly the law that the accounting supposes, and comes from no seed."""

import numpy as np
import pytest
from scipy import stats

from memaudit.common.errors import AuditError
from memaudit.privacy.discrete_noise import discrete_gaussian, discrete_laplace

SUPPORT = np.arange(-60, 61)
DRAWS = 20_000


def gaussian(sigma):
    return np.exp(-(SUPPORT**2) / (2 * sigma**2))


def laplace(scale):
    return np.exp(-np.abs(SUPPORT) / scale)


def rounded(sigma):
    return np.diff(stats.norm.cdf(np.append(SUPPORT, 61) - 0.5, scale=sigma))


def p_value(draws, weights):
    """Chi-square of draws against a law on the support; a tail counts with the last number of five expected draws."""
    expected = len(draws) * weights / weights.sum()
    first, last = np.flatnonzero(expected >= 5)[[0, -1]]
    pooled = np.arange(len(SUPPORT)).clip(first, last)
    found = np.bincount(pooled[draws - SUPPORT[0]], minlength=last + 1)[first:]
    return stats.chisquare(found, np.bincount(pooled, expected)[first:]).pvalue


@pytest.mark.parametrize(
    ("noise", "law", "scale"),
    [(discrete_gaussian, gaussian, 0.8), (discrete_gaussian, gaussian, 5.3), (discrete_laplace, laplace, 2.5)],
)
def test_noise_has_the_exact_discrete_law(noise, law, scale):
    draws = noise(np.full(DRAWS, 7), scale) - 7
    weights = law(scale) / law(scale).sum()
    variance, fourth = (weights * SUPPORT**2).sum(), (weights * SUPPORT**4).sum()
    assert p_value(draws, law(scale)) > 1e-7
    assert abs(draws.mean()) < 6 * np.sqrt(variance / DRAWS)
    assert abs((draws**2).mean() - variance) < 6 * np.sqrt((fourth - variance**2) / DRAWS)


def test_the_law_is_not_that_of_a_rounded_gaussian():
    """The test above can tell: rounding a normal number to an integer adds a variance of 1/12."""
    assert p_value(discrete_gaussian(np.zeros(DRAWS, dtype=np.int64), 0.8), rounded(0.8)) < 1e-12


@pytest.mark.parametrize("noise", [discrete_gaussian, discrete_laplace])
def test_two_draws_differ_whatever_the_seed(noise):
    np.random.seed(0)  # noqa: NPY002
    first = noise(np.zeros((4, 5, 2), dtype=np.int64), 1e6)
    np.random.seed(0)  # noqa: NPY002
    second = noise(np.zeros((4, 5, 2), dtype=np.int64), 1e6)
    assert first.shape == (4, 5, 2)
    assert first.dtype == np.int64
    assert len(np.unique([first, second])) > 70


def test_large_numbers_keep_every_digit():
    center = np.array([2**53 + 1, -(2**60) - 1])
    assert abs(discrete_gaussian(center, 0.05) - center).max() == 0


def test_no_numbers_need_no_noise():
    assert discrete_gaussian(np.zeros((0, 3), dtype=np.int64), 1.0).shape == (0, 3)


@pytest.mark.parametrize("noise", [discrete_gaussian, discrete_laplace])
@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf])
def test_noise_that_protects_nothing_is_refused(noise, scale):
    with pytest.raises(AuditError, match="protects nothing"):
        noise(np.zeros(3, dtype=np.int64), scale)
