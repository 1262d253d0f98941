"""Lower bounds on epsilon and mu from one training run, or one context, into which canaries were put at random.

Each of m canaries is in with probability 1/2, independently; from the one output an auditor guesses which are in, or
abstains. With W of r guesses correct:

- Steinke, Nasr and Jagielski 2023, Theorem 5.2: against an (epsilon, delta)-DP mechanism P(W >= v) is at most
  P(W' >= v) + 2 m delta max_i P(v > W' >= v - i) / i with W' ~ Binomial(r, e^epsilon / (1 + e^epsilon)).
- Mahloujifar, Melis and Chaudhuri 2024, Theorem 9: a recursion for any trade-off function, here that of mu-Gaussian DP.

Both hold for adding or removing one canary. The guesses may use everything but the membership of the canaries in this
run: scores that were fitted on other runs of a *balanced* membership matrix know it from there.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

LEVEL = 0.05
SHARES = (0.1, 0.3, 1.0)  # of canaries that are guessed, the rest abstained from
MOST = 50.0


class OneRun(NamedTuple):
    """Bounds of 95 % confidence from one run, and the guesses that gave the bound on epsilon."""

    epsilon: float
    mu: float
    guesses: int
    correct: int


def epsilon_one_run(canaries: int, guesses: int, correct: int, delta: float, level: float = LEVEL) -> float:
    """Largest epsilon that `correct` of `guesses` refute with confidence 1 - level, in nats (Steinke et al. 2023)."""
    _check(canaries, guesses, correct)
    return _largest_refuted(lambda epsilon: p_value(canaries, guesses, correct, epsilon, delta) < level)


def p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """Bound on the probability of at least `correct` of `guesses` under (epsilon, delta)-DP (Theorem 5.2)."""
    accuracy = special.expit(epsilon)
    excess = stats.binom.sf(correct - 1, guesses, accuracy)
    if delta == 0 or correct == 0:
        return float(excess)
    below = np.cumsum(stats.binom.pmf(np.arange(correct - 1, -1, -1), guesses, accuracy))
    return float(min(1.0, excess + 2 * canaries * delta * np.max(below / np.arange(1, correct + 1))))


def mu_one_run(canaries: int, guesses: int, correct: int, level: float = LEVEL) -> float:
    """Largest mu of Gaussian DP refuted with confidence 1 - level, as `epsilon_one_run` (Mahloujifar et al. 2024)."""
    _check(canaries, guesses, correct)
    return _largest_refuted(lambda mu: _refutes_mu(canaries, guesses, correct, mu, level))


def guess(scores: Array, guesses: int) -> tuple[Mask, Mask]:
    """Canaries that are guessed in, and guessed out: the highest and the lowest half of `guesses` scores; (record,)."""
    # Ties in an order of their own: that of the canaries may be by membership.
    order = np.lexsort((np.random.default_rng(0).permutation(len(scores)), scores))
    inside, outside = np.zeros((2, len(scores)), np.bool_)
    inside[order[len(order) - guesses // 2 :]] = True
    outside[order[: guesses - guesses // 2]] = True
    return inside, outside


def audit_one_run(scores: Array, membership: Mask, delta: float, shares: Sequence[float] = SHARES) -> OneRun:
    """Bounds on epsilon and mu from the scores of one run.

    scores, membership: (record,). The shares of canaries that are guessed are fixed in advance, and each has its part
    of the level (union bound). Raises AuditError where a score is not a number.
    """
    if np.isnan(scores).any():
        raise AuditError(f"the score of canary {int(np.argmax(np.isnan(scores)))} is not a number: fix the attack")
    canaries, found = len(scores), []
    for share in shares:
        guesses = max(2, round(share * canaries))
        inside, outside = guess(scores, guesses)
        correct = int(membership[inside].sum() + (~membership[outside]).sum())
        level = LEVEL / len(shares)
        epsilon = epsilon_one_run(canaries, guesses, correct, delta, level)
        found.append(OneRun(epsilon, mu_one_run(canaries, guesses, correct, level), guesses, correct))
    return max(found)._replace(mu=max(one.mu for one in found))


def _refutes_mu(canaries: int, guesses: int, correct: int, mu: float, level: float) -> bool:
    """Whether P(W >= correct) = level is impossible under mu-Gaussian DP.

    right, wrong: the probability that a random canary is guessed rightly, or wrongly, and that at least i guesses are
    right, for i falling from `correct` to 0. Flipping the membership of that canary gives wrong_i >= f(right_{i+1}),
    f(x) = Phi(Phi^-1(x) - mu); all guesses together have the probability guesses / canaries.
    """
    right, wrong = level * correct / canaries, level * (guesses - correct) / canaries
    total = guesses / canaries
    for i in range(correct - 1, -1, -1):
        least = max(wrong, float(special.ndtr(special.ndtri(right) - mu)))
        right += i / (guesses - i) * (least - wrong)
        wrong = least
        if right + wrong > total:
            return True
    return False


def _largest_refuted(refuted: Callable[[float], bool]) -> float:
    """Supremum of the refuted values, by bisection; 0 where even 0 is not refuted."""
    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high) and high < MOST:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _check(canaries: int, guesses: int, correct: int) -> None:
    if not 0 <= correct <= guesses <= canaries or guesses < 1:
        raise AuditError(
            f"one-run bound: {correct} correct of {guesses} guesses about {canaries} canaries; these must not fall, and"
            " one guess is needed"
        )
