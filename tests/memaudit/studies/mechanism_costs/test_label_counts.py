"""Numbers of labels fit their budget and no more, and equal votes count as one query of them."""

import numpy as np
import pytest

from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.renyi_conversion import epsilon_of_rdp
from memaudit.privacy.smooth_sensitivity import CostRelease, cost, sensitivities, smooth_sensitivity
from memaudit.studies.mechanism_costs import label_counts
from memaudit.studies.mechanism_costs.label_counts import DELTA, labels, largest_sigma

SETTINGS = Confident(None, None, 30.0)
UNANIMOUS, AGREED = np.array([[250, 0]]), np.array([[200, 50]])


@pytest.fixture(autouse=True)
def one_order(monkeypatch):
    monkeypatch.setattr(label_counts, "ORDERS", np.array([8.0]))
    monkeypatch.setattr(label_counts, "BETAS", np.array([0.2]))
    monkeypatch.setattr(label_counts, "EPSILONS", (3.0,))


def test_one_more_label_exceeds_the_budget():
    found = labels(AGREED, SETTINGS)[3.0]
    each = cost(AGREED, np.ones(1), SETTINGS, 8.0)
    local = smooth_sensitivity(sensitivities(AGREED, np.ones(1), SETTINGS, 8.0), 0.2 / 8)

    def unreleased(count):
        return epsilon_of_rdp(np.array(8.0), np.array(count * each), DELTA)

    def released(count):
        """The best noise by trial: the formula of the optimum must not be worse."""
        sigmas = np.geomspace(0.1, 1e4, 400)
        return min(
            CostRelease(8.0, 0.2 / 8, one).epsilon(count * each, DELTA) + 2 * count * local * one for one in sigmas
        )

    assert unreleased(found["unreleased"]) <= 3.0 < unreleased(found["unreleased"] + 1)
    assert released(found["released"] - 1) <= 3.0 + 1e-3
    assert released(found["released"] + 1) > 3.0
    assert found["independent"] == np.floor(rho_within(Budget(3.0, DELTA)) / SETTINGS.label_cost)
    assert found["released"] < found["unreleased"]


def test_repeated_votes_count_as_one_query_and_mixed_votes_lie_between():
    once, split = labels(UNANIMOUS, SETTINGS)[3.0], labels(np.array([[150, 100]]), SETTINGS)[3.0]
    assert labels(np.repeat(UNANIMOUS, 5, axis=0), SETTINGS)[3.0] == once
    mixed = labels(np.array([[250, 0], [150, 100]]), SETTINGS)[3.0]
    assert split["unreleased"] < mixed["unreleased"] < once["unreleased"]


def test_only_answered_queries_are_labels():
    sure, half = (labels(UNANIMOUS, Confident(threshold, 20.0, 30.0))[3.0] for threshold in (100.0, 250.0))
    worst = rho_within(Budget(3.0, DELTA))
    assert sure["independent"] == pytest.approx(np.floor(worst / (1 / 800 + 1 / 900)), abs=0.1)
    assert half["independent"] == pytest.approx(np.floor(worst / (1 / 800 + 1 / 1800)) / 2, abs=0.1)


def test_the_largest_noise_has_one_wrong_label_in_a_hundred():
    sigma = largest_sigma(np.array([[45, 5]]))
    noisy = np.random.default_rng(0).normal([45, 5], sigma, (200_000, 2))
    assert (noisy.argmax(1) != 0).mean() == pytest.approx(0.01, abs=0.0015)
