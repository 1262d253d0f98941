"""RMIA against ml_privacy_meter's recorded scores, and against its definition."""

import json

import numpy as np
import pytest

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.rmia import dominated, offline_marginal
from memaudit.errors import AuditError


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
    probabilities, design, population = grid
    gamma = 1.2
    scores = calibrate(probabilities, design, "rmia", population=population, gamma=gamma, offline=offline)
    for t in range(9):
        others = np.arange(9) != t
        z_mean = population[others].mean(0)
        for r in range(6):
            inside = probabilities[others & design[:, r], r].mean()
            outside = probabilities[others & ~design[:, r], r].mean()
            x_marginal = (inside + outside) / 2 if offline is None else (1.3 * outside + 0.7) / 2
            z_marginal = z_mean if offline is None else (1.3 * z_mean + 0.7) / 2
            ratio = (probabilities[t, r] / x_marginal) / (population[t] / z_marginal)
            assert scores[t, r] == pytest.approx((ratio > gamma).mean(), abs=1e-12)


def test_a_population_of_other_models_is_refused(grid):
    probabilities, design, population = grid
    with pytest.raises(AuditError, match="one row per model"):
        calibrate(probabilities, design, "rmia", population=population[:5])


def test_a_record_without_reference_models_is_named(grid):
    probabilities, design, population = grid
    design[:, 2] = True
    with pytest.raises(AuditError, match="record 2"):
        calibrate(probabilities, design, "rmia", population=population)
