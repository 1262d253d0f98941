"""Private selection costs what Papernot and Steinke prove, and releases no more."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as peer
from scipy.stats import norm

from memaudit.common.errors import AuditError
from memaudit.privacy.private_selection import NegativeBinomial, Poisson, Selection, drawn, with_chance
from memaudit.privacy.renyi_conversion import epsilon_of_rdp

ORDERS = 1 + np.geomspace(1e-2, 1e3, 400)
DISTRIBUTIONS = [
    NegativeBinomial(0.0, 0.05),
    NegativeBinomial(1.0, 0.1),
    NegativeBinomial(-0.5, 0.1),
    NegativeBinomial(2.5, 0.4),
    Poisson(6.0),
]


def shares(repetitions, count=4000):
    return np.array(list(itertools.islice(repetitions.probabilities(), count)))


@pytest.mark.parametrize("repetitions", DISTRIBUTIONS)
def test_probabilities_mean_and_generating_function_agree(repetitions):
    found = shares(repetitions)
    assert found.sum() == pytest.approx(1)
    assert found @ np.arange(len(found)) == pytest.approx(repetitions.mean)
    assert found @ 0.7 ** np.arange(len(found)) == pytest.approx(repetitions.generating(0.7))


@pytest.mark.parametrize("repetitions", DISTRIBUTIONS)
def test_numbers_of_runs_are_drawn_by_their_probabilities(repetitions):
    numbers = np.array([drawn(repetitions) for _ in range(4000)])
    deviation = math.sqrt(numbers.var() / len(numbers))
    # Nothing seeds these numbers. With the heaviest tail 5 deviations would fail once in 100,000 runs.
    assert abs(numbers.mean() - repetitions.mean) < 6.5 * deviation
    assert abs((numbers <= 1).mean() - shares(repetitions)[:2].sum()) < 0.04


@pytest.mark.parametrize(("shape", "mean"), [(0.0, 8.0), (1.0, 5.0), (2.0, 30.0), (math.inf, 12.0)])
def test_divergences_are_those_of_dp_accounting(shape, mean):
    run = 0.02 * ORDERS
    theirs = peer._compute_rdp_repeat_and_select(ORDERS, run, mean, shape)
    if shape == math.inf:
        ours = Poisson(mean).rdp(ORDERS, run)
    else:
        ours = NegativeBinomial(shape, peer._gamma_truncated_negative_binomial(shape, mean)).rdp(ORDERS, run)
        ours = np.minimum.accumulate(ours[::-1])[::-1]  # a divergence rises with the order
    assert ours == pytest.approx(theirs, rel=1e-6)


def best_of(run, repetitions):
    """Exact distribution of the best output: run: probabilities of outputs in ascending order of their scores."""
    at_most = np.minimum(1.0, np.cumsum(run))
    return np.diff([repetitions.generating(one) for one in (0.0, *at_most)])


def noisy(center, sigma, size=60):
    """Probabilities of the lattice points of a Gaussian, which serve as output and score."""
    found = np.exp(-((np.arange(size) - center) ** 2) / (2 * sigma**2))
    return found / found.sum()


def delta_at(epsilon, one, other):
    return max(np.maximum(0, a - math.exp(epsilon) * b).sum() for a, b in ((one, other), (other, one)))


@pytest.mark.parametrize("repetitions", DISTRIBUTIONS)
def test_the_exact_outputs_on_neighbours_keep_to_epsilon_and_delta(repetitions):
    sigma, delta = 4.0, 1e-3
    one, other = (best_of(noisy(center, sigma), repetitions) for center in (30, 31))
    stated = epsilon_of_rdp(ORDERS, repetitions.rdp(ORDERS, ORDERS / (2 * sigma**2)), delta).min()
    assert delta_at(stated, one, other) <= delta
    # It is no empty promise: one run alone reveals less than the best of several.
    assert repetitions.mean < 3 or delta_at(0.05, one, other) > delta_at(0.05, noisy(30, sigma), noisy(31, sigma))


def test_a_pure_epsilon_is_at_most_tripled_by_geometric_numbers():
    epsilon, repetitions = 0.5, NegativeBinomial(1.0, 0.01)
    run = np.array([[0.5, 0.3, 0.2], [0.5 * math.exp(-0.4), 1 - 0.5 * math.exp(-0.4) - 0.2, 0.2]])
    assert np.abs(np.log(run[0] / run[1])).max() <= epsilon
    losses = np.abs(np.log(best_of(run[0], repetitions) / best_of(run[1], repetitions)))
    assert epsilon < losses.max() <= (2 + repetitions.shape) * epsilon  # Corollary 3 of Papernot and Steinke


def share_of_last(quality, sigma, repetitions):
    """Exact probability that the last of equally likely candidates is released: scores are rounded Gaussians."""
    scores = np.arange(-6, 11)
    each = np.diff(norm.cdf(np.append(scores, 11) - 0.5, np.array(quality)[:, None], sigma)) / len(quality)
    # Of the runs that tie, the first is released.
    return best_of(each.sum(axis=0), repetitions) @ (each[-1] / each.sum(axis=0))


@pytest.mark.parametrize("repetitions", [NegativeBinomial(0.0, 0.1), Poisson(4.0)])
def test_outputs_of_many_selections_on_neighbours_keep_to_epsilon_and_delta(repetitions):
    """Monte Carlo: three candidates, of which the changed record moves one's score; each event's odds are bounded."""
    sigma, delta, runs = 1.5, 1e-2, 6000
    selection = Selection(3, repetitions)
    counts, qualities = [], ([0, 1, 2], [0, 1, 3])
    rng = np.random.default_rng(1)
    for quality in qualities:
        outputs = [
            selection.choose(lambda one, q=quality: ((score := round(q[one] + rng.normal(0, sigma))), score))
            for _ in range(runs)
        ]
        keys = [(-1, 0) if output is None else output for output in outputs]
        counts.append({key: keys.count(key) / runs for key in set(keys)})
    events = sorted(set(counts[0]) | set(counts[1]))
    one, other = (np.array([count.get(event, 0.0) for event in events]) for count in counts)
    stated = epsilon_of_rdp(ORDERS, repetitions.rdp(ORDERS, ORDERS / (2 * sigma**2)), delta).min()
    assert delta_at(stated, one, other) <= delta + 3 / math.sqrt(runs)
    assert delta_at(0.0, one, other) > 0.05
    for quality, found in zip(qualities, (one, other), strict=True):
        share, expected = found[[event[0] == 2 for event in events]].sum(), share_of_last(quality, sigma, repetitions)
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / runs)


@pytest.mark.parametrize("shape", [0.0, 1.0, math.inf])
def test_the_chance_is_that_of_a_candidates_run(shape):
    selection = with_chance(5, 0.8, shape)
    assert selection.chance == pytest.approx(0.8)
    seen = []
    for _ in range(1500):
        run = set()
        selection.choose(lambda one, run=run: (0.0, run.add(one)))
        seen.append(3 in run)
    assert abs(np.mean(seen) - 0.8) < 0.05


def test_impossible_numbers_of_runs_are_named():
    with pytest.raises(AuditError, match="gamma 0"):
        NegativeBinomial(1.0, 0.0)
    with pytest.raises(AuditError, match="mean of 0"):
        Poisson(0.0)
    with pytest.raises(AuditError, match="nearer to 1"):
        with_chance(5, 0.1, 1.0)
