"""Labels by noisy votes leak no more than stated, and data-dependent costs are the published ones."""

import time

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance
from scipy import special

from memaudit.errors import AuditError
from memaudit.privacy import data_dependent
from memaudit.privacy.accounting import Filter
from memaudit.privacy.data_dependent import (
    confident_epsilon,
    confident_rdp,
    gnmax_rdp,
    log_answered,
    log_wrong,
)
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.gnmax import Confident, label
from memaudit.statistics.epsilon_bounds import mu_lower_bound


def silent(center, sigma):
    """Stands for noise and adds none."""
    return center


def opendp_rho(sigma, sensitivity):
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=sigma).map(sensitivity)


def one_by_one(votes, settings, allowance):
    """Algorithm 1 of Papernot et al. 2018 as it stands there, without noise."""
    labels = np.full(len(votes), -1)
    for query, counts in enumerate(votes):
        if not allowance.allows(settings.check_cost + settings.label_cost):
            return labels, query
        allowance.charge(settings.check_cost)
        if counts.max() >= settings.threshold:
            allowance.charge(settings.label_cost)
            labels[query] = counts.argmax()
    return labels, len(votes)


def test_costs_are_those_of_opendp():
    settings = Confident(30, 12.0, 5.0)
    assert settings.check_cost == pytest.approx(opendp_rho(12.0, 1.0), rel=1e-9)
    assert settings.label_cost == pytest.approx(opendp_rho(5.0, np.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize("rho", [0.05, 1.0, 3.3, 100.0])
def test_many_queries_at_a_time_are_the_same_as_one_by_one(rho):
    votes = np.random.default_rng(1).multinomial(20, [0.61, 0.29, 0.1], size=300)
    settings = Confident(12, 5.0, 7.0)
    expected, allowance = Filter(rho), Filter(rho)
    labels, asked = one_by_one(votes, settings, expected)
    found = label(votes, settings, allowance, noise=silent)
    # Ties of the largest count fall below the threshold of 12 among 20.
    assert found.labels.tolist() == labels.tolist()
    assert (found.asked, found.answered) == (asked, (labels >= 0).sum())
    assert allowance.spent == pytest.approx(expected.spent, rel=1e-9)
    assert 0 < found.answered < found.asked or rho == 0.05


def test_a_check_is_always_charged_and_a_label_only_if_answered():
    allowance, settings = Filter(10.0), Confident(8, 2.0, 3.0)
    found = label(np.array([[9, 1], [5, 5], [8, 2], [3, 7]]), settings, allowance, noise=silent)
    assert found.labels.tolist() == [0, -1, 0, -1]
    assert allowance.spent == pytest.approx(4 / 8 + 2 / 9)


def test_without_a_threshold_nothing_is_checked_and_each_label_is_charged():
    draws = []
    allowance = Filter(5 / 9)
    found = label(
        np.array([[6, 4], [1, 9]] * 4),
        Confident(None, None, 3.0),
        allowance,
        noise=lambda center, sigma: draws.append((center.shape, sigma)) or center,
    )
    assert found.labels.tolist() == [0, 1, 0, 1, 0, -1, -1, -1]
    assert (found.asked, found.answered) == (5, 5)
    assert draws == [((5, 2), 3.0)]


def test_costs_are_charged_before_noise_is_drawn():
    allowance, settings, spent = Filter(10.0), Confident(8, 2.0, 3.0), []

    def noise(center, sigma):
        spent.append(allowance.spent)
        return center

    label(np.array([[9, 1], [5, 5], [8, 2]]), settings, allowance, noise=noise)
    assert spent == pytest.approx([3 / 8, 3 / 8 + 2 / 9])


def test_agreement_does_not_buy_more_labels():
    """Data-dependent costs of unanimous votes are a fraction of the guarantee: they must not decide when to stop."""
    split, unanimous = np.tile([26, 24], (500, 1)), np.tile([50, 0], (500, 1))
    asked = [label(votes, Confident(None, None, 5.0), Filter(4.0)).asked for votes in (split, unanimous)]
    assert asked == [100, 100]
    costs = [confident_rdp(votes, Confident(None, None, 5.0), np.array([3.0])).mean() for votes in (split, unanimous)]
    assert costs[1] < 0.1 * costs[0]


def test_a_tie_favours_each_class_in_turn():
    found = label(np.full((9, 3), 4), Confident(None, None, 1.0), Filter(99.0), noise=silent)
    assert np.bincount(found.labels).tolist() == [3, 3, 3]


def test_noise_that_protects_nothing_is_refused():
    with pytest.raises(AuditError, match="sigma of 0"):
        label(np.array([[1, 2]]), Confident(None, None, 0.0), Filter(1.0))
    with pytest.raises(AuditError, match="sigma of -1"):
        label(np.array([[1, 2]]), Confident(1, -1.0, 1.0), Filter(1.0))


def test_a_hundred_thousand_queries_are_labelled_and_accounted_within_a_second():
    votes = np.random.default_rng(0).multinomial(50, np.full(10, 0.1), size=100_000)
    start = time.process_time()
    found = label(votes, Confident(9, 20.0, 10.0), Filter(1e4), noise=silent)
    assert time.process_time() - start < 1
    assert found.asked == 100_000
    assert 0 < found.answered < 100_000


RUNS = 5000
# Two classes and one query: the attacker knows all votes but the target's, which decides for whom there is a majority.
# The released label is then a threshold between the two worlds on the noisy difference of counts, the likelihood ratio.
WITH, WITHOUT = np.array([6, 5]), np.array([5, 6])
TOY = Confident(None, None, 5.2)


def attacked(noise, tail):
    """Stated mu of one label, and the bound on it from runs of their own noise in each world."""
    allowance = Filter(1e6)
    hits = [(label(np.tile(votes, (RUNS, 1)), TOY, allowance, noise).labels == 0).sum() for votes in (WITH, WITHOUT)]
    return np.sqrt(2 * allowance.spent / (2 * RUNS)), mu_lower_bound(hits[0], RUNS, hits[1], RUNS, tail)


def test_an_attacker_who_knows_all_but_one_record_learns_no_more_than_stated():
    stated, bound = attacked(discrete_gaussian, tail=2e-4)
    assert stated == pytest.approx(0.272, abs=0.001)
    assert 0.03 < bound < stated


def test_the_attacker_exposes_half_the_noise():
    stated, bound = attacked(lambda center, sigma: discrete_gaussian(center, sigma / 2), tail=0.025)
    assert bound == pytest.approx(0.47, abs=0.12)
    assert bound > stated


# name, votes and how often they are asked, sigma1, sigma2, threshold, delta, then the published numbers: epsilon in
# expectation, its order, epsilon independent of the data, expected number of answers, log q, log P(answered).
# tensorflow/privacy, research/pate_2018/core.py, with the classic conversion from RDP.
PUBLISHED = {
    "unanimous": (
        [([100, 0], 50)],
        (40.0, 20.0, 60.0, 1e-5),
        (1.0315072417248803, 19.0, 2.480016572341268, 42.067237303427156),
        [(-8.49996245328721, -0.1727537790234499)],
    ),
    "90 to 10": (
        [([90, 10], 50)],
        (40.0, 20.0, 60.0, 1e-5),
        (1.2735883342899799, 15.5, 2.386554936978829, 38.668632381156584),
        [(-6.058088445176583, -0.25699426683836524)],
    ),
    "55 to 45": (
        [([55, 45], 50)],
        (40.0, 20.0, 60.0, 1e-5),
        (1.8917882827968038, 13.5, 1.8917882827968038, 22.513088758494366),
        [(-1.0165619839535647, -0.7979261427530242)],
    ),
    "four classes": (
        [([200, 30, 10, 10], 100), ([100, 80, 40, 30], 100)],
        (150.0, 40.0, 200.0, 1e-8),
        (1.364741797651888, 26.5, 1.9990140736621453, 75.2492537546924),
        [(-6.161089655140351, -0.6931471805599453), (-0.4873997358005786, -1.3763735849730707)],
    ),
    "unanimous 5000": (
        [([5000] + 9 * [0], 1000)],
        (1500.0, 100.0, 3500.0, 1e-8),
        (0.128184076238764, 287.6866438690466, 2.5777525321953636, 841.344746068551),
        [(-627.2879617772957, -0.1727537790234499)],
    ),
}


def classic(rdp, delta):
    epsilons = rdp - np.log(delta) / (data_dependent.ORDERS - 1)
    return epsilons.min(), data_dependent.ORDERS[epsilons.argmin()]


@pytest.mark.parametrize("case", PUBLISHED.values(), ids=PUBLISHED)
def test_data_dependent_costs_are_the_published_ones(case):
    groups, (sigma1, sigma2, threshold, delta), (epsilon, order, independent, answers), logs = case
    settings = Confident(threshold, sigma1, sigma2)
    votes = np.repeat([counts for counts, _ in groups], [times for _, times in groups], axis=0)
    distinct = np.array([counts for counts, _ in groups])
    assert log_wrong(distinct, sigma2) == pytest.approx([q for q, _ in logs], rel=1e-12)
    assert log_answered(distinct, settings)[0] == pytest.approx([p for _, p in logs], rel=1e-12)
    answered = np.exp(log_answered(votes, settings)[0])
    assert answered.sum() == pytest.approx(answers, rel=1e-12)
    assert classic(confident_rdp(votes, settings).sum(axis=0), delta) == pytest.approx((epsilon, order), abs=1e-9)
    rho = settings.check_cost * len(votes) + settings.label_cost * answers
    assert classic(rho * data_dependent.ORDERS, delta)[0] == pytest.approx(independent, abs=1e-9)
    assert 0 < confident_epsilon(votes, settings, delta) < epsilon


@pytest.mark.parametrize(
    ("votes", "sigma", "log_q", "rdp"),
    [
        ([10, 0, 0], 0.5, -102.87988902484489, [1.5951527588304322e-29, 4.7566725664650703e-26, 32.0, 40.0, 128.0]),
        ([1000, 500, 300, 200, 0], 250.0, -2.1483911044301687, [2.4e-05, 3.2e-05, 0.000128, 0.00016, 0.000512]),
        ([20, 10, 0], 2.0, -8.499962449509223, [0.004296572521519281, 0.00732087346763033, 2.0, 2.5, 8.0]),
    ],
)
def test_the_cost_of_one_label_is_the_published_one(votes, sigma, log_q, rdp):
    found = log_wrong(np.array([votes]), sigma)
    assert found == pytest.approx([log_q], rel=1e-12)
    assert gnmax_rdp(found, sigma, np.array([1.5, 2, 8, 10, 32]))[0] == pytest.approx(rdp, rel=1e-9)


def test_a_check_that_is_surely_passed_is_not_free():
    """Published: P(answered) rounds to 1, its complement to 0, and the check costs 0 at every order."""
    votes, settings, orders = np.array([[30, 0]]), Confident(10, 0.5, 4.0), np.array([8.0, 64.0])
    answered, abstained = log_answered(votes, settings)
    published = special.log_ndtr((30 - 10) / 0.5)
    assert (answered.item(), published) == (0.0, 0.0)
    assert np.log(-np.expm1(published), where=published < 0, out=np.array(-np.inf)) == -np.inf
    assert abstained == pytest.approx(-(40**2) / 2 - np.log(40 * np.sqrt(2 * np.pi)), rel=1e-5)
    check = (confident_rdp(votes, settings, orders) - confident_rdp(votes, Confident(None, None, 4.0), orders))[0]
    assert check[1] == pytest.approx(64 * settings.check_cost)


@pytest.mark.parametrize("order", [1.5, 2.0, 5.0])
def test_the_bound_given_the_votes_covers_the_divergence_to_neighbours_but_not_from_them(order):
    """Two classes: the label is a coin of known bias, and so is the divergence that Theorem 6 bounds."""
    sigma, teachers, back = 4.0, 30, []
    for majority in range(15, 31):
        votes = np.array([[majority, teachers - majority]])
        bound = gnmax_rdp(log_wrong(votes, sigma), sigma, np.array([order])).item()
        assert bound <= order / sigma**2
        here = special.ndtr(np.array([1, -1]) * (2 * majority - teachers) / (np.sqrt(2) * sigma))
        for shift in (-2, 2):
            there = special.ndtr(np.array([1, -1]) * (2 * majority - teachers + shift) / (np.sqrt(2) * sigma))
            assert np.log((here**order * there ** (1 - order)).sum()) / (order - 1) <= bound * (1 + 1e-9)
            back.append(np.log((there**order * here ** (1 - order)).sum()) / (order - 1) / bound)
    assert max(back) > 1
