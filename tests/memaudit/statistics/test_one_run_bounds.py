"""One-run bounds: the published formula, validity and tightness on mechanisms of known epsilon and mu."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from memaudit.common.errors import AuditError
from memaudit.statistics.one_run_bounds import audit_one_run, epsilon_one_run, guess, mu_one_run, p_value

DELTA = 1e-5


def direct_p_value(m, r, v, epsilon, delta):
    """Theorem 5.2 of Steinke et al. term by term."""
    worse = stats.binom(r, 1 / (1 + np.exp(-epsilon)))
    alpha = max(sum(worse.pmf(v - j) for j in range(1, i + 1)) / i for i in range(1, v + 1))
    return min(1.0, worse.sf(v - 1) + 2 * m * delta * alpha)


@pytest.mark.parametrize(("m", "r", "v"), [(100, 100, 70), (1000, 50, 50), (40, 10, 6)])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_the_p_value_is_that_of_theorem_5_2(m, r, v, epsilon):
    assert p_value(m, r, v, epsilon, DELTA) == pytest.approx(direct_p_value(m, r, v, epsilon, DELTA))


def test_without_delta_the_bound_is_that_of_clopper_and_pearson():
    """The accuracy e^epsilon / (1 + e^epsilon) of r independent guesses, bounded at 95 %."""
    for correct in (60, 75, 99):
        assert expit(epsilon_one_run(100, 100, correct, 0.0)) == pytest.approx(
            stats.beta.ppf(0.05, correct, 101 - correct), abs=1e-6
        )


def test_all_guesses_right_refute_what_one_wrong_one_leaves_possible():
    assert p_value(1000, 100, 100, epsilon_one_run(1000, 100, 100, DELTA), DELTA) == pytest.approx(0.05, abs=1e-6)
    assert epsilon_one_run(1000, 100, 100, DELTA) > epsilon_one_run(1000, 100, 99, DELTA) > 2.5
    assert mu_one_run(1000, 100, 100) > mu_one_run(1000, 100, 99)


def test_half_of_the_guesses_right_refute_nothing():
    assert epsilon_one_run(100, 100, 50, DELTA) == mu_one_run(100, 100, 50) == 0
    assert epsilon_one_run(100, 100, 0, DELTA) == mu_one_run(100, 100, 0) == 0


def test_the_highest_are_guessed_in_and_the_lowest_out():
    inside, outside = guess(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 3)
    np.testing.assert_array_equal(np.flatnonzero(inside), [3])
    np.testing.assert_array_equal(np.flatnonzero(outside), [1, 2])


def test_randomized_response_is_never_refuted_and_nearly_reached():
    """Each guess is as good as epsilon allows: 500 canaries reach three quarters of it."""
    bounds = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        member = rng.random(500) < 0.5
        truthful = rng.random(500) < expit(1.0)
        scores = np.where(truthful, member, ~member) + 1e-6 * rng.random(500)
        bounds.append(audit_one_run(scores, member, 0.0).epsilon)
    assert np.mean(np.array(bounds) > 1.0) <= 0.1  # at most .05 but for chance
    assert np.median(bounds) > 0.65


@pytest.mark.parametrize("mu", [0.0, 2.0])
def test_a_gaussian_mechanism_is_never_refuted_and_half_reached(mu):
    bounds = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        member = rng.random(300) < 0.5
        bounds.append(audit_one_run(rng.standard_normal(300) + mu * member, member, DELTA).mu)
    assert np.mean(np.array(bounds) > mu) <= 0.08
    assert np.median(bounds) >= 0.4 * mu


@pytest.mark.parametrize(("canaries", "guesses", "correct"), [(10, 11, 5), (10, 5, 6), (10, 0, 0)])
def test_impossible_counts_are_refused(canaries, guesses, correct):
    with pytest.raises(AuditError, match="must not fall"):
        epsilon_one_run(canaries, guesses, correct, DELTA)


def test_a_score_that_is_not_a_number_is_refused():
    with pytest.raises(AuditError, match="canary 3 is not a number"):
        audit_one_run(np.where(np.arange(20) == 3, np.nan, 0.0), np.arange(20) < 10, 1e-5)


@pytest.mark.parametrize("levels", [1, 2])
def test_an_order_by_membership_is_no_guess_where_scores_are_tied(levels):
    member = np.arange(400) >= 200
    scores = np.random.default_rng(0).integers(levels, size=400).astype(float)
    for ordered in (member, ~member):
        found = audit_one_run(scores, ordered, DELTA)
        assert found.epsilon == found.mu == 0
