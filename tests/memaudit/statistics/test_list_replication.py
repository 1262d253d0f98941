"""What other models would name of a list, against other models that are drawn."""

import numpy as np
import pytest

from memaudit.statistics.list_replication import replicated
from memaudit.statistics.record_vulnerability import Population

RECORDS, LISTED, AUDITS, OTHERS = 300, 20, 10, 5
SCORES = {
    "8 leak": lambda rng: np.where(np.arange(RECORDS) < 8, 3.0, 0.0),
    "40 leak alike": lambda rng: np.where(np.arange(RECORDS) < 40, 2.0, 0.0),
    "smooth": lambda rng: rng.normal(0, 0.7, RECORDS),
    "one-sided": lambda rng: rng.exponential(0.5, RECORDS),
    "heavy tails": lambda rng: np.abs(rng.standard_t(2, RECORDS)),
}


def grid(rng, gaps, models):
    membership = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return membership * gaps + rng.standard_normal(membership.shape), membership


def listed(population, signals, membership):
    return np.argsort(-population.scores(signals, membership))[:LISTED]


@pytest.mark.parametrize("models", [32, 64])
@pytest.mark.parametrize("scores", SCORES)
def test_other_models_name_as_much_of_the_list_as_predicted(scores, models):
    """Also where the list is longer than the leak, of which the Spearman-Brown formula says .58 for .43."""
    rng = np.random.default_rng(0)
    predicted, observed, within = [], [], []
    for _ in range(AUDITS):
        gaps = SCORES[scores](rng)
        first = grid(rng, gaps, models)
        population = Population.fit(*first, rng)
        found = replicated(population, *first, {"listed": LISTED}, rng)["listed"]
        mine = listed(population, *first)
        for _ in range(OTHERS):
            others = listed(population, *grid(rng, gaps, models))
            observed.append(len(np.intersect1d(mine, others)) / LISTED)
            within.append(found.low <= observed[-1])
        predicted.append(found.mean)
    assert np.mean(predicted) == pytest.approx(np.mean(observed), abs=0.1)
    assert np.mean(within) >= 0.9


def test_records_of_constant_answers_are_left_out_and_without_others_nothing_is_told():
    rng = np.random.default_rng(1)
    signals, membership = grid(rng, np.where(np.arange(60) < 5, 6.0, 0.0), 32)
    signals[:, 6:] = 1.0
    population = Population.fit(signals, membership, rng)
    assert replicated(population, signals, membership, {"listed": 20}, rng)["listed"] == (1.0, 1.0)
    constant = np.ones_like(signals)
    found = replicated(Population.fit(constant, membership, rng), constant, membership, {"listed": 20}, rng)["listed"]
    assert np.isnan(found).all()


def test_of_labels_at_least_as_much_is_named_again_as_said():
    """Yes-or-no signals agree more than normal ones with the same scores."""
    rng = np.random.default_rng(2)
    within, gaps, levels = [], np.where(np.arange(RECORDS) < 30, 3.0, 0.0), rng.normal(0, 4, RECORDS)

    def labels():
        membership = rng.random((32, RECORDS)).argsort(0).argsort(0) < 16
        return 1.0 * (rng.random(membership.shape) < 1 / (1 + np.exp(-levels - gaps * membership))), membership

    for _ in range(AUDITS):
        first = labels()
        population = Population.fit(*first, rng)
        found = replicated(population, *first, {"listed": LISTED}, rng)["listed"]
        mine = listed(population, *first)
        others = [listed(population, *labels()) for _ in range(OTHERS)]
        within += [found.low <= len(np.intersect1d(mine, one)) / LISTED for one in others]
    assert np.mean(within) >= 0.95
