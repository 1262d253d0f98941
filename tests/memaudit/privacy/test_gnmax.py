"""Labels by noisy votes cost what is stated, stop where the budget ends, and leak no more than stated."""

import time

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance
from private_records import UNSEEDED

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Filter
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
    labels, queried = one_by_one(votes, settings, expected)
    found = label(votes, settings, allowance, noise=silent)
    # Ties of the largest count fall below the threshold of 12 among 20.
    assert found.labels.tolist() == labels.tolist()
    assert (found.queried, found.answered) == (queried, (labels >= 0).sum())
    assert allowance.spent == pytest.approx(expected.spent, rel=1e-9)
    assert 0 < found.answered < found.queried or rho == 0.05


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
    assert (found.queried, found.answered) == (5, 5)
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
    queried = [label(votes, Confident(None, None, 5.0), Filter(4.0)).queried for votes in (split, unanimous)]
    assert queried == [100, 100]


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
    assert found.queried == 100_000
    assert 0 < found.answered < 100_000


RUNS = 20_000
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
    stated, bound = attacked(discrete_gaussian, UNSEEDED)
    assert stated == pytest.approx(0.272, abs=0.001)
    assert 0.03 < bound < stated


def test_the_attacker_exposes_half_the_noise():
    stated, bound = attacked(lambda center, sigma: discrete_gaussian(center, sigma / 2), 0.025)
    assert bound == pytest.approx(0.51, abs=0.08)
    assert bound > stated
