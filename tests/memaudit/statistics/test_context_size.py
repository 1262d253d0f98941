"""The AUC by size of the context, extrapolated to a larger one."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks.registry import attack
from memaudit.data import membership_matrices
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.bootstrap import Weights
from memaudit.statistics.context_size import Measured, extrapolated, measured
from memaudit.statistics.threat_models import Case


def at(size, auc, error=0.01):
    rng = np.random.default_rng(size)
    samples = np.clip(auc + error * rng.normal(size=400), 0, 1)
    return Measured(
        size,
        Estimate("auc", auc, auc - 2 * error, auc + 2 * error, 1, "", 0.5),
        samples,
        Weights(np.ones((400, 32)), np.ones((400, 99))),
    )


def falling(size, power=0.5):
    return norm.cdf(0.8 * (size / 50) ** -power)


def test_a_power_law_is_extrapolated_with_its_uncertainty():
    found, reason = extrapolated([at(size, falling(size)) for size in (50, 100, 200)], 800)
    assert reason == ""
    assert found.estimate == pytest.approx(falling(800), abs=1e-3)
    assert found.low < falling(800) < found.high
    far, _ = extrapolated([at(size, falling(size)) for size in (50, 100, 200)], 3200)
    assert far.high - far.low > 0
    assert far.estimate < found.estimate


@pytest.mark.parametrize(
    ("aucs", "deployed", "reason"),
    [
        ({100: 0.7, 200: 0.65}, 400, "fewer than 3 sizes"),
        ({50: 0.8, 100: 0.7, 200: 0.65}, 3201, "more than 16 times as large"),
        ({50: 0.6, 100: 0.55, 200: 0.505}, 400, "too small to extrapolate"),
        ({50: 0.8, 100: 0.6, 200: 0.8}, 400, "do not follow one curve"),
    ],
)
def test_it_says_why_it_cannot_be_extrapolated(aucs, deployed, reason):
    found, told = extrapolated([at(size, auc) for size, auc in aucs.items()], deployed)
    assert found is None
    assert reason in told


def test_the_auc_of_one_size_has_the_interval_of_the_bootstrap():
    rng = np.random.default_rng(0)
    member = membership_matrices.balanced(16, 40, rng)
    case = Case({}, attack("signal alone", rng.normal(size=member.shape) + member), member, np.arange(40))
    found = measured(40, case, rng, 50)
    assert found.samples.shape == (50,)
    assert found.estimate.low < norm.cdf(1 / np.sqrt(2)) < found.estimate.high
