"""RMIA against ml_privacy_meter's recorded scores, and against its definition."""

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.rmia import dominated, estimated_a, offline_marginal, rmia
from memaudit.common.errors import AuditError


def largest_half_mean(reference):
    """Mean over the larger half of each row, as ml_privacy_meter takes it for a population record; (z, model) -> (z,).

    There the models without a record are found by sorting zeros away; a population record has no zeros, so its smaller
    half is lost and P(z) is too large.
    """
    half = reference.shape[1] // 2
    return np.sort(reference, axis=1)[:, -half:].mean(1)


@pytest.fixture(scope="module")
def vector(project):
    text = (project / "tests" / "vectors" / "rmia_small.json").read_text(encoding="utf-8")
    return {key: np.array(value) if isinstance(value, list) else value for key, value in json.loads(text).items()}


@pytest.fixture
def grid():
    rng = np.random.default_rng(5)
    return rng.random((9, 6)), rng.random((9, 6)).argsort(0) < 4, rng.random((9, 11))


@pytest.mark.parametrize("a", ["0.0", "0.3", "0.5", "1.0"])
def test_published_scores_come_from_the_largest_half_of_the_population_signals(vector, a):
    outside = np.where(vector["ref_member"] == 1, np.nan, vector["ref"])
    x = vector["target"] / offline_marginal(np.nanmean(outside, axis=1), float(a))
    published = vector["z_target"] / offline_marginal(largest_half_mean(vector["z_ref"]), float(a))
    ours = vector["z_target"] / offline_marginal(vector["z_ref"].mean(1), float(a))
    np.testing.assert_array_equal(dominated(x, published, 1.0), vector["scores"][a])
    assert np.abs(dominated(x, ours, 1.0) - vector["scores"][a]).max() > 0.1


@pytest.mark.parametrize("offline", [None, 0.3])
def test_the_sorted_form_equals_the_definition_over_all_pairs(grid, offline):
    probabilities, membership, population = grid
    gamma = 1.2
    scores = calibrate(
        probabilities, membership, "rmia", population=population, gamma=gamma, offline=offline, leave="self"
    )
    for t in range(9):
        others = np.arange(9) != t
        z_mean = population[others].mean(0)
        for r in range(6):
            inside = probabilities[others & membership[:, r], r].mean()
            outside = probabilities[others & ~membership[:, r], r].mean()
            x_marginal = (inside + outside) / 2 if offline is None else (1.3 * outside + 0.7) / 2
            z_marginal = z_mean if offline is None else (1.3 * z_mean + 0.7) / 2
            ratio = (probabilities[t, r] / x_marginal) / (population[t] / z_marginal)
            assert scores[t, r] == pytest.approx((ratio > gamma).mean(), abs=1e-12)


@pytest.mark.parametrize("gamma", [0.8, 1.0, 2.0])
def test_equal_ratios_are_not_dominated(gamma):
    """Ratios with many ties, against all pairs."""
    rng = np.random.default_rng(0)
    ratio_x, ratio_z = gamma * rng.integers(0, 12, 500) / 4, rng.integers(2, 9, 30) / 4
    np.testing.assert_array_equal(
        dominated(ratio_x, ratio_z, gamma), (ratio_x[:, None] / gamma > ratio_z).sum(1) / len(ratio_z)
    )


def test_a_population_of_other_models_is_refused(grid):
    probabilities, membership, population = grid
    with pytest.raises(AuditError, match="one row per model"):
        calibrate(probabilities, membership, "rmia", population=population[:5])


def test_a_record_without_reference_models_is_named(grid):
    probabilities, membership, population = grid
    membership[:, 2] = True
    with pytest.raises(AuditError, match="record 2"):
        calibrate(probabilities, membership, "rmia", population=population)


def planted(rng, a, models=64, records=200):
    """Probabilities whose mean in a model is a times that out of it, plus 1 - a: the line of the paper."""
    membership = rng.random((models, records)).argsort(0) < models // 2
    outside = rng.uniform(0.1, 0.9, records)
    return np.where(membership, a * outside + 1 - a, outside) + rng.normal(0, 0.02, membership.shape), membership


@pytest.mark.parametrize("a", [0.3, 0.9])
def test_the_planted_a_is_estimated(a):
    slopes = estimated_a(*planted(np.random.default_rng(0), a))
    np.testing.assert_allclose(slopes, a, atol=0.02)


def test_an_a_does_not_depend_on_the_membership_of_its_targets():
    """Neither that of its half of the records nor that of its fold of the models."""
    probabilities, membership = planted(np.random.default_rng(0), 0.5)
    before = estimated_a(probabilities, membership)
    changed = membership.copy()
    changed[:, 0] = ~changed[:, 0]
    np.testing.assert_array_equal(estimated_a(probabilities, changed)[:, 0], before[:, 0])
    assert (estimated_a(probabilities, changed)[:, 1] != before[:, 1]).all()
    changed = membership.copy()
    changed[0] = ~changed[0]
    np.testing.assert_array_equal(estimated_a(probabilities, changed)[0], before[0])


def test_an_estimated_a_finds_more_than_the_published_one_where_they_differ():
    rng = np.random.default_rng(1)
    probabilities, membership = planted(rng, 0.95, 32, 400)
    population = rng.uniform(0.1, 0.9, 200) + rng.normal(0, 0.02, (32, 200))
    areas = []
    for offline in ("estimated", 0.3):
        scores = rmia(probabilities, membership, population=population, offline=offline)
        areas.append((scores[membership][:, None] > scores[~membership][:2000]).mean())
    assert areas[0] > areas[1] + 0.02


@pytest.mark.parametrize("offline", [None, 0.3, "estimated"])
def test_without_a_leak_members_score_as_non_members(offline):
    areas = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        probabilities, population = rng.random((16, 60)) ** 2, rng.random((16, 30)) ** 2
        membership = rng.random((16, 60)).argsort(0) < 8
        areas.append(auc(rmia(probabilities, membership, population=population, offline=offline), membership))
    # The deviation of the mean over 80 seeds is .0015.
    assert np.mean(areas) == pytest.approx(0.5, abs=0.006)


def auc(scores, membership):
    ranks = rankdata(scores).reshape(scores.shape)[membership]
    members = membership.sum()
    return (ranks.sum() - members * (members + 1) / 2) / (members * (membership.size - members))


@pytest.mark.parametrize("where", ["records", "population"])
def test_a_probability_of_0_has_no_ratio(where):
    rng = np.random.default_rng(0)
    probabilities, population = rng.random((16, 10)), rng.random((16, 5))
    (probabilities if where == "records" else population)[2, 3] = 0.0
    membership = rng.random((16, 10)).argsort(0) < 8
    with pytest.raises(AuditError, match="one of them is 0"):
        rmia(probabilities, membership, population=population)
