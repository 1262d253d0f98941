"""The likelihood-ratio attack against recorded outputs of published code, and against refitting without shortcuts."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks.calibrate import METHODS, calibrate
from memaudit.attacks.gaussian import CONVENTIONS, Gaussian, Spread, fit
from memaudit.attacks.lira import fitted_blocks, log_likelihood_ratio, resolution_floor
from memaudit.common.errors import AuditError

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def vector(project):
    return json.loads((project / "tests" / "vectors" / "lira_small.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recorded(vector):
    """16 models, 6 records, 2 queries; the last model is tensorflow/privacy's target, the others are its shadows."""
    return np.array(vector["scores"]), np.array(vector["keep"], dtype=bool)


@pytest.fixture
def grid():
    rng = np.random.default_rng(3)
    return rng.normal(size=(13, 7)) * 3 + 20, rng.random((13, 7)).argsort(0) < 6


def published(name, recorded):
    """tensorflow/privacy's plot.py: medians, every record cut to the fewest models of any, negated scores."""
    scores, keep = recorded
    shadow, target = scores[:-1].reshape(15, -1), scores[-1:].reshape(1, -1)

    def cut(member):
        return (member & (np.cumsum(member, axis=0) <= member.sum(0).min())).repeat(2, axis=1)

    spread = Spread.RAW if name.endswith("fixvar") else Spread.PER_RECORD
    inside, outside = (fit(shadow, cut(side), CONVENTIONS["median"], spread) for side in (keep[:-1], ~keep[:-1]))
    if name.startswith("offline"):
        return outside.log_density(target).reshape(6, 2).mean(1)
    if name == "online_fixvar":
        outside = Gaussian(outside.centre, inside.sigma)
    return -(inside.log_density(target) - outside.log_density(target)).reshape(6, 2).mean(1)


@pytest.mark.parametrize("name", ["online", "online_fixvar", "offline", "offline_fixvar"])
def test_tensorflow_privacy_is_reproduced_with_its_fixed_variance_fault(vector, recorded, name):
    np.testing.assert_allclose(published(name, recorded), vector["tf"][name]["prediction_lower_is_member"], **TIGHT)


def test_global_threshold_is_the_raw_signal(vector, recorded):
    scores, keep = recorded
    raw = calibrate(scores, keep, "raw")[-1].mean(-1)
    np.testing.assert_allclose(-raw, vector["tf"]["global"]["prediction_lower_is_member"], **TIGHT)


@pytest.mark.parametrize(("name", "spread"), [("spylab_loo", "per_record"), ("spylab_loo_global", "raw")])
def test_spylab_leave_one_out_is_reproduced(vector, recorded, name, spread):
    scores = calibrate(*recorded, "lira", convention="ddof1", spread=spread, leave="self")
    np.testing.assert_allclose(scores.ravel(), vector[name]["scores_higher_is_member_model_major"], **TIGHT)


def refit(signals, membership, convention, spread, leave):
    """Every target's two Gaussians from the remaining values, by numpy's own functions."""
    scores = np.empty(signals.shape)
    rule = CONVENTIONS[convention]
    centre_of = np.median if rule.centre == "median" else np.mean

    def others(target, record, side):
        models = np.flatnonzero(membership[:, record] == side)
        if leave == "pair":
            partners = np.flatnonzero(membership[:, record] != side)
            pairs = min(len(models), len(partners))
            own = models if membership[target, record] == side else partners
            turn = int(np.flatnonzero(own == target)[0]) % pairs
            return signals[np.delete(models[:pairs], turn), record]
        return signals[models[models != target], record]

    for target, record in np.ndindex(*signals.shape):
        densities = []
        for side in (True, False):
            values = others(target, record, side)
            sigma = values.std(ddof=rule.ddof)
            if spread == "pooled":
                pool = [others(target, other, side) for other in range(signals.shape[1])]
                squares = sum(((x - centre_of(x)) ** 2).sum() for x in pool)
                sigma = np.sqrt(squares / sum(len(x) - rule.ddof for x in pool))
            densities.append(norm.logpdf(signals[target, record], centre_of(values), sigma))
        scores[target, record] = densities[0] - densities[1]
    return scores


@pytest.mark.parametrize("leave", ["self", "pair"])
@pytest.mark.parametrize("spread", ["per_record", "pooled"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("members", [5, 6, 7])
def test_running_sums_equal_refitting_without_the_target(grid, members, convention, spread, leave):
    signals, _ = grid
    membership = np.random.default_rng(members).random(signals.shape).argsort(0) < members
    fast = log_likelihood_ratio(signals, membership, convention=convention, spread=spread, leave=leave)
    np.testing.assert_allclose(fast, refit(signals, membership, convention, spread, leave), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("spread", ["per_record", "pooled"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_balanced_matrix_is_fitted_in_pairs(convention, spread):
    rng = np.random.default_rng(0)
    signals, membership = rng.normal(size=(12, 5)) * 3 + 20, rng.random((12, 5)).argsort(0) < 6
    fast = log_likelihood_ratio(signals, membership, convention=convention, spread=spread)
    np.testing.assert_allclose(fast, refit(signals, membership, convention, spread, "pair"), rtol=1e-8, atol=1e-8)


def test_median_without_the_target_survives_ties(grid):
    signals, membership = np.round(grid[0]), grid[1]
    for leave in ("self", "pair"):
        fast = log_likelihood_ratio(signals, membership, convention="median", leave=leave, floor=0.5)
        exact = log_likelihood_ratio(
            signals + 1e-9 * np.arange(13)[:, None], membership, convention="median", leave=leave, floor=0.5
        )
        np.testing.assert_allclose(fast, exact, atol=1e-5)


def test_confident_signals_with_a_tiny_spread_keep_their_digits():
    rng = np.random.default_rng(0)
    noise, membership = rng.normal(size=(64, 5)), rng.random((64, 5)).argsort(0) < 32
    far = log_likelihood_ratio(1e3 + 1e-6 * noise, membership)
    np.testing.assert_allclose(far, log_likelihood_ratio(noise, membership), rtol=1e-4, atol=1e-4)


def test_queries_are_fitted_apart_and_averaged(grid):
    signals, membership = grid
    shifted = np.stack([signals, signals * 2 + 5], axis=-1)
    np.testing.assert_allclose(
        calibrate(shifted, membership, "lira"), calibrate(signals, membership, "lira"), rtol=1e-9
    )


def test_the_one_sided_offline_score_rises_with_the_signal():
    membership = np.arange(9)[:, None] % 3 == 0
    signals = np.linspace(-3, 3, 9)[:, None]
    assert np.all(np.diff(calibrate(signals, membership, "lira_offline")[membership]) > 0)


def test_discrete_signals_need_the_floor_of_their_resolution():
    """A member whose count differs from the one that all other members share would score -1e23."""
    membership = np.arange(16)[:, None] % 2 == 0
    counts = np.where(membership, 3.0, np.arange(16)[:, None] % 3)
    counts[4] = 2
    assert calibrate(counts, membership, "lira")[4] < -1e20
    assert calibrate(counts, membership, "lira", floor=resolution_floor(1.0))[4] > -10


def test_oracle_targets_are_scored_with_all_other_models(grid):
    for method in ("lira", "lira_offline", "postprocessed"):
        np.testing.assert_array_equal(calibrate(*grid, method, targets=4), calibrate(*grid, method)[:4])


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"raw", "rmia", "combined", "white_box", "per_class"}))
def test_a_record_without_shadow_models_is_named(grid, method):
    signals, membership = grid
    membership[:, 3] = np.arange(13) < 2
    with pytest.raises(AuditError, match=r"record 3 has 1 shadow models.*ask for more models"):
        calibrate(signals, membership, method)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, d: (s, d, "liar"), "choose one of"),
        (lambda s, d: (s[:5], d, "lira"), "do not fit"),
        (lambda s, d: (s, d.astype(int), "lira"), "booleans"),
        (lambda s, d: (np.where(np.arange(7) == 2, np.inf, s), d, "lira"), "record 2 .* not finite"),
    ],
)
def test_what_a_user_can_get_wrong_is_said_in_one_line(grid, change, message):
    with pytest.raises(AuditError, match=message):
        calibrate(*change(*grid))


def test_blocks_change_no_more_than_rounding(monkeypatch):
    rng = np.random.default_rng(8)
    signals, membership = rng.normal(size=(40, 50)), rng.random((40, 50)).argsort(0) < 20
    whole = log_likelihood_ratio(signals, membership, leave="self")
    monkeypatch.setattr("memaudit.attacks.lira.BLOCK_ENTRIES", 40 * 7)
    np.testing.assert_allclose(log_likelihood_ratio(signals, membership, leave="self"), whole, rtol=1e-9)
    chosen = np.array([3, 4, 40])
    blocks = fitted_blocks(signals, membership, leave="self", records=chosen)
    np.testing.assert_allclose(np.concatenate([block.ratio for block in blocks], axis=1), whole[:, chosen], rtol=1e-7)
