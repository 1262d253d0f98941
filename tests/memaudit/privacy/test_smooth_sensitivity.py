"""Smooth sensitivities bound the local ones of every neighbour, and the released cost adds its own."""

import json
import math
from itertools import permutations, product

import numpy as np
import pytest
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.privacy.data_dependent_rdp import gnmax_rdp, log_q
from memaudit.privacy.gnmax import Confident
from memaudit.privacy.smooth_sensitivity import (
    CostRelease,
    cost,
    gnmax_sensitivities,
    sensitivities,
    smooth_sensitivity,
    threshold_sensitivities,
)

VECTORS = json.loads((PROJECT / "tests/vectors/pate2018_small.json").read_text(encoding="utf-8"))["local_sensitivities"]
TEACHERS, BETA = 8, 0.1
CASES = [(1.0, 1.5, 3), (1.5, 2.0, 3), (2.0, 3.0, 2)]  # sigma, order, classes: of tables small enough to list


def histograms(classes):
    return [one for one in product(range(TEACHERS + 1), repeat=classes) if sum(one) == TEACHERS]


def neighbours(votes):
    for source, target in permutations(range(len(votes)), 2):
        if votes[source]:
            moved = list(votes)
            moved[source], moved[target] = moved[source] - 1, moved[target] + 1
            yield tuple(moved)


def distance(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) // 2


def listed(answer):
    return np.repeat(*map(list, zip(*answer, strict=True)))


@pytest.mark.parametrize("vector", VECTORS["gnmax"])
def test_local_sensitivities_are_those_of_the_published_code(vector):
    expected = listed(vector["answer"])
    found = gnmax_sensitivities(np.array(vector["counts"]), vector["sigma"], vector["order"])
    assert found[: len(expected)] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("vector", VECTORS["threshold"])
def test_threshold_sensitivities_are_the_largest_up_to_each_distance_of_the_published_code(vector):
    expected = np.maximum.accumulate(listed(vector["answer"]))
    largest = max(vector["counts"])
    found = threshold_sensitivities(largest, 30, vector["threshold"], vector["sigma"], vector["order"])
    assert found[: len(expected)] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("sigma", "order", "classes"), CASES)
def test_every_table_up_to_a_distance_is_bounded(sigma, order, classes):
    """In the last case the paper's condition C6 fails: the largest sensitivity is not next to q0."""
    tables = histograms(classes)
    rdp = dict(zip(tables, gnmax_rdp(log_q(np.array(tables), sigma), sigma, order), strict=True))
    assert len(set(rdp.values())) > 2
    exact = {one: max(abs(rdp[one] - rdp[other]) for other in neighbours(one)) for one in tables}
    found = {one: gnmax_sensitivities(np.array(one), sigma, order) for one in tables}
    for one, other in product(tables, repeat=2):
        assert exact[other] <= found[one][distance(one, other)] + 1e-12
    smooth = {one: smooth_sensitivity(found[one], BETA) for one in tables}
    for one in tables:
        assert smooth[one] >= exact[one] - 1e-12
        assert all(smooth[other] <= math.exp(BETA) * smooth[one] + 1e-12 for other in neighbours(one))


def test_the_sum_over_queries_is_bounded_too():
    """Two queries with a threshold: a neighbour may move one of them alone, or both."""
    settings, order, answered = Confident(5.0, 1.5, 1.5), 2.0, np.ones(2)
    pairs = [np.array(pair) for pair in product(histograms(2), repeat=2)]
    smooth = [smooth_sensitivity(sensitivities(pair, answered, settings, order), BETA) for pair in pairs]
    costs = [cost(pair, answered, settings, order) for pair in pairs]
    for (one, bound, spent), (other, another, also) in product(zip(pairs, smooth, costs, strict=True), repeat=2):
        if max(map(distance, one, other)) == 1:
            assert abs(spent - also) <= bound + 1e-12
            assert another <= math.exp(BETA) * bound + 1e-12


def test_the_total_is_cost_and_release_converted_once():
    release = CostRelease(order=20.0, beta=0.02, sigma=30.0)
    expected = 20 * math.exp(0.04) / 900 + (0.4 - math.log(0.2) / 2) / 19
    assert release.rdp == pytest.approx(expected)
    conversion = math.log(19 / 20) - math.log(1e-5 * 20) / 19
    assert release.epsilon(0.3, 1e-5) == pytest.approx(0.3 + expected + conversion)


def test_the_released_cost_scatters_around_the_exact_one_with_the_smooth_sensitivity():
    votes, answered = np.array([[45, 5], [50, 0], [30, 20]] * 5), np.array([1.0, 1.0, 0.0] * 5)
    settings, release = Confident(25, 9, 8), CostRelease(order=8.0, beta=0.03, sigma=4.0)
    exact = release.epsilon(cost(votes, answered, settings, 8.0), 1e-5)
    assert release.released(votes, answered, settings, 1e-5, lambda center, _: center) == pytest.approx(exact)
    drawn = np.array([release.released(votes, answered, settings, 1e-5) for _ in range(60)])
    sigma = 4 * smooth_sensitivity(sensitivities(votes, answered, settings, 8.0), 0.03)
    assert drawn.std() == pytest.approx(sigma, rel=0.55)
    assert abs(drawn.mean() - exact) < 6 * sigma / math.sqrt(60)


def test_neighbours_releases_are_within_the_stated_divergence():
    """Two Gaussians with the exact costs and smooth sensitivities of neighbours, at the stated order."""
    settings, order, beta = Confident(None, None, 5.0), 8.0, 0.03
    release = CostRelease(order, beta, 2.0)
    for one, other in (([45, 5], [44, 6]), ([44, 6], [45, 5]), ([35, 15], [34, 16]), ([34, 16], [35, 15])):
        tables = [np.array([counts]) for counts in (one, other)]
        means = [cost(votes, np.ones(1), settings, order) for votes in tables]
        scales = [2 * smooth_sensitivity(sensitivities(votes, np.ones(1), settings, order), beta) for votes in tables]
        assert gaussian_divergence(order, *means, *scales) <= release.rdp


def gaussian_divergence(order, mean, other, scale, another):
    """Renyi divergence of two Gaussians (Gil et al. 2013)."""
    variance = order * another**2 + (1 - order) * scale**2
    weights = math.log(math.sqrt(variance) / (scale ** (1 - order) * another**order))
    return order * (mean - other) ** 2 / (2 * variance) + weights / (1 - order)


@pytest.mark.parametrize("release", [CostRelease(20.0, 0.025, 3.0), CostRelease(1.0, 0.1, 3.0), CostRelease(5.0, 0, 1)])
def test_a_beta_that_is_too_large_for_the_order_is_refused(release):
    with pytest.raises(AuditError, match="beta"):
        _ = release.rdp
