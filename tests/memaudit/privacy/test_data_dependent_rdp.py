"""Data-dependent costs are those of the published code, and never above the data-independent ones."""

import json
import math

import numpy as np
import pytest
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.privacy.data_dependent_rdp import dependent_from, gnmax_rdp, log_answered, log_q, threshold_rdp
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.smooth_sensitivity import cost

VECTORS = json.loads((PROJECT / "tests/vectors/pate2018_small.json").read_text(encoding="utf-8"))
COUNTS = np.array([[40, 10, 0], [30, 15, 5], [50, 0, 0], [17, 17, 16]])


def repeated(case, key):
    return np.repeat([query[key] for query in case["queries"]], [query["times"] for query in case["queries"]], axis=0)


@pytest.mark.parametrize("vector", VECTORS["primitives"])
def test_primitives_are_those_of_the_published_code(vector):
    found = log_q(np.array([vector["counts"]]), vector["sigma"])
    assert found == pytest.approx(vector["logq_gaussian"], rel=1e-12)
    for order, expected in vector["rdp_at"].items():
        assert gnmax_rdp(found, vector["sigma"], float(order)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_totals_are_those_of_the_published_code(case):
    """At its best order, with the expected cost and the classic conversion of the authors."""
    votes, settings = repeated(case, "votes"), Confident(case["threshold"], case["sigma1"], case["sigma2"])
    assert log_q(votes, settings.sigma2) == pytest.approx(repeated(case, "logq"), rel=1e-12)
    answered = log_answered(votes.max(1), settings.threshold, settings.sigma1)
    assert answered == pytest.approx(repeated(case, "logpr_answered"), rel=1e-12)
    spent = cost(votes, np.exp(answered), settings, case["order"]) - math.log(case["delta"]) / (case["order"] - 1)
    assert spent == pytest.approx(case["eps_data_dependent_expected"], rel=1e-9)
    assert spent <= case["eps_data_independent"] * (1 + 1e-9)


@pytest.mark.parametrize("order", [1.5, 4.0, 20.0, 60.0])
def test_no_cost_exceeds_the_data_independent_one(order):
    values = np.linspace(-300, -1e-3, 1000)
    assert (gnmax_rdp(values, 5.0, order) <= order / 25 * (1 + 1e-12)).all()
    assert (threshold_rdp(np.arange(51), 30, 5.0, order) <= order / 50 * (1 + 1e-12)).all()
    rising = gnmax_rdp(values, 5.0, order)
    assert (np.diff(rising) >= -1e-12).all()
    assert rising[0] < 0.8 * order / 25


def test_a_tie_costs_as_much_as_without_looking_at_the_votes():
    assert gnmax_rdp(log_q(COUNTS[3:], 5.0), 5.0, 10.0) == pytest.approx(10 / 25)


def test_q_bounds_the_share_of_other_outcomes():
    rng = np.random.default_rng(0)
    noisy = COUNTS[:, None] + rng.normal(0, 10, (len(COUNTS), 50_000, 3))
    others = (noisy.argmax(2) != 0).mean(1)
    assert (others <= np.exp(log_q(COUNTS, 10.0)) + 0.01).all()


def test_a_nearly_certain_threshold_still_costs_something():
    """The published code has 0 where the probability of an answer rounds to 1."""
    assert threshold_rdp(40, 0.0, 4.0, 2.0) > 0


def test_the_divergence_itself_is_below_the_bound():
    """Two classes: GNMax is a test of one noisy difference, whose Renyi divergence is known."""
    sigma, order = 6.0, 3.0
    for first in range(20, 31):
        q, p = (special_share(30 - 2 * (first - moved), sigma) for moved in (0, 1))
        exact = math.log((1 - q) ** order * (1 - p) ** (1 - order) + q**order * p ** (1 - order)) / (order - 1)
        assert exact <= gnmax_rdp(log_q(np.array([[first, 30 - first]]), sigma), sigma, order)


def special_share(lead, sigma):
    """Probability of a lead of -lead plus noise above zero."""
    return 0.5 * math.erfc(-lead / (2 * sigma))


def test_an_order_without_the_bound_is_named():
    with pytest.raises(AuditError, match="order 1 "):
        dependent_from(5.0, 1.0)
