"""Lower bounds on epsilon hold on mechanisms of known epsilon, and are not empty."""

import numpy as np
import pytest
from scipy import stats

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import gaussian_sigma
from memaudit.statistics.epsilon_bounds import (
    audit_best_record,
    audit_pooled,
    clopper_pearson_roc,
    epsilon_lower_bound,
    gaussian_toy,
    mu_lower_bound,
)
from memaudit.statistics.intervals import clopper_pearson

DELTA = 1e-5


def test_epsilon_bound_takes_the_better_of_both_errors_and_never_less_than_zero():
    assert epsilon_lower_bound(0.5, 0.01, 0.1) == pytest.approx(np.log(0.4 / 0.01))
    assert epsilon_lower_bound(0.99, 0.5, 0.1) == pytest.approx(np.log(0.4 / 0.01))
    assert epsilon_lower_bound(0.01, 0.02, DELTA) == 0
    assert epsilon_lower_bound(0.0, 1.0, DELTA) == 0


def test_delta_is_charged():
    assert epsilon_lower_bound(0.01, 0.001, 0.009) < 1e-9 < epsilon_lower_bound(0.01, 0.001, 0.0)


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_the_bound_on_mu_misses_at_most_both_tails_and_is_not_empty(mu):
    """A Gaussian of sensitivity mu and sigma 1, tested halfway: the counts are binomial."""
    rng = np.random.default_rng(0)
    hits = [rng.binomial(1000, stats.norm.sf(mu / 2, mean), size=400).tolist() for mean in (mu, 0)]
    bounds = np.array([mu_lower_bound(found, 1000, false, 1000) for found, false in zip(*hits, strict=True)])
    assert np.mean(bounds > mu) <= 0.05
    assert mu == 0 or np.median(bounds) > mu - 0.2


def test_a_test_that_never_or_always_passes_bounds_no_mu():
    assert mu_lower_bound(0, 50, 0, 50) == mu_lower_bound(50, 50, 50, 50) == mu_lower_bound(0, 50, 50, 50) == 0
    assert np.isfinite(mu_lower_bound(50, 50, 0, 50))


@pytest.mark.parametrize("truth", [0.0, 0.003, 0.4, 1.0])
def test_clopper_pearson_misses_at_most_its_tail(truth):
    counts = np.arange(201)
    bounds = np.array([clopper_pearson(count, 200) for count in counts.tolist()])
    chance = stats.binom.pmf(counts, 200, truth)
    assert chance[bounds[:, 0] > truth].sum() <= 0.025
    assert chance[bounds[:, 1] < truth].sum() <= 0.025


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_bound_of_the_best_record_stays_below_the_true_epsilon(epsilon):
    sensitivities = np.linspace(0, 1, 20)
    bounds = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        toy = gaussian_toy(epsilon, DELTA, 1024, rng, sensitivities)
        bounds.append(audit_best_record(*toy, 0.1, DELTA, rng).epsilon)
    assert np.mean(np.array(bounds) <= epsilon) >= 0.95
    assert epsilon < 4 or np.median(bounds) > 0.1 * epsilon


def randomized_response(epsilon, models, records, rng):
    """Every test on this mechanism is tight: TPR = e^epsilon FPR, with no room between bound and truth."""
    design = rng.random((models, records)) < 0.5
    truthful = rng.random(design.shape) < 1 / (1 + np.exp(-epsilon))
    return np.where(truthful, design, ~design).astype(float), design


def test_the_bounds_hold_with_95_percent_where_nothing_is_to_spare():
    single, pooled = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        signals, design = randomized_response(1.0, 300, 20, rng)
        single.append(audit_best_record(signals, design, 0.1, 0.0, rng).epsilon)
        if seed < 100:
            pooled.append(audit_pooled("signal", signals, design, 0.3, 0.0, rng).epsilon)
    assert np.mean(np.array(single) <= 1) >= 0.95
    assert np.mean(np.array(pooled) <= 1) >= 0.95
    assert np.median(pooled) > 0.85


def test_a_concatenated_point_never_exceeds_the_epsilon_of_the_mechanism():
    """The (FPR, TPR) region is convex: one threshold over unlike records gives a mixture of points inside it."""
    epsilon, sigma = 2.0, gaussian_sigma(2.0, DELTA)
    sensitivities, offsets = np.linspace(-1, 1, 41), np.linspace(-5, 5, 41)
    for threshold in np.linspace(-12, 30, 500):
        fpr = stats.norm.sf(threshold, offsets, sigma).mean()
        tpr = stats.norm.sf(threshold, offsets + sensitivities, sigma).mean()
        assert epsilon_lower_bound(tpr, fpr, DELTA) <= epsilon
    alone = [epsilon_lower_bound(stats.norm.sf(t, 1, sigma), stats.norm.sf(t, 0, sigma), DELTA) for t in range(12)]
    assert max(alone) == pytest.approx(epsilon, abs=0.05)


def test_no_false_positives_is_not_taken_for_an_fpr_of_zero():
    rng = np.random.default_rng(0)
    design = rng.random((40, 5)) < 0.5
    point = audit_pooled("perfect", np.where(design, 1.0, 0.0), design, 0.01, DELTA, rng)
    assert point.fpr == 0
    # Of 40 models: the entries of one may share its noise.
    assert point.fpr_high == pytest.approx(clopper_pearson(0, 40)[1])
    assert np.isfinite(point.epsilon)


def test_pooled_bounds_see_that_cells_of_a_model_stand_together():
    rng = np.random.default_rng(0)
    design = rng.random((50, 400)) < 0.5
    by_model = audit_pooled("model", rng.random((50, 1)) + np.zeros((50, 400)), design, 0.3, DELTA, rng)
    by_cell = audit_pooled("cell", rng.random((50, 400)), design, 0.3, DELTA, rng)
    assert by_model.fpr_high - by_model.fpr > 5 * (by_cell.fpr_high - by_cell.fpr)
    assert by_model.fpr_high - by_model.fpr == pytest.approx(1.96 * np.sqrt(0.3 * 0.7 / 50), rel=0.25)


def test_the_mu_of_an_audited_point_holds_for_gaussian_noise_and_is_not_empty():
    """Noise for epsilon 4 has mu 1 / sigma; thresholds over unlike records are mixtures, which do not exceed it."""
    mu, sensitivities = 1 / gaussian_sigma(4.0, DELTA), np.linspace(0.5, 1, 10)
    pooled, best = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        toy = gaussian_toy(4.0, DELTA, 512, rng, sensitivities)
        pooled.append(audit_pooled("one", *toy, 0.1, DELTA, rng).mu)
        best.append(audit_best_record(*toy, 0.1, DELTA, rng).mu)
    assert np.mean(np.array([pooled, best]) > mu) <= 0.05
    assert np.median(pooled) > 0.4 * mu


def test_the_roc_curve_of_independent_entries_covers_the_tpr_at_its_thresholds():
    """The threshold is random, and so is the true TPR above it: Phi(1 - threshold)."""
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        member = np.arange(120) < 60
        scores = rng.standard_normal(120) + member
        ((tpr, low, high),) = clopper_pearson_roc(scores, member, np.array([0.1]))
        threshold = np.sort(scores[~member])[-7]  # 6 of 60 lie above it
        assert tpr == (scores[member] > threshold).mean()
        assert (low, high) == clopper_pearson(round(60 * tpr), 60)
        covered.append(low <= stats.norm.sf(threshold - 1) <= high)
    assert np.mean(covered) >= 0.93


def test_a_constant_score_has_the_diagonal_within_its_interval():
    fprs = np.array([0.2, 0.5])
    curve = clopper_pearson_roc(np.zeros(40), np.arange(40) % 2 == 0, fprs)
    np.testing.assert_allclose(curve[:, 0], fprs)
    assert (curve[:, 1] < fprs).all()
    assert (curve[:, 2] > fprs).all()


def test_a_score_that_is_not_a_number_is_refused():
    rng = np.random.default_rng(0)
    scores, member = rng.normal(size=(16, 20)), rng.random((16, 20)) < 0.5
    scores[0, 3] = np.nan
    with pytest.raises(AuditError, match=r"score 3 .* is not a number"):
        audit_pooled("signal", scores, member, 0.1, 1e-5, rng)


@pytest.mark.parametrize(("truth", "models"), [(1.0, 8), (4.0, 64)])
def test_models_that_share_their_noise_are_no_independent_trials(truth, models):
    """Randomized response with one coin of each model: where no coin lies, all entries agree."""
    violated = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        member = rng.random((models, 50)) < 0.5
        honest = rng.random((models, 1)) < 1 / (1 + np.exp(-truth))
        signals = np.where(honest, member, ~member).astype(float)
        fpr = 0.3 if truth == 1 else 0.05
        violated.append(audit_pooled("one", signals, member, fpr, 0.0, rng).epsilon > truth)
    assert np.mean(violated) <= 0.06
