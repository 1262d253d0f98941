"""Private selection: the best of a random number of runs of random candidates, of which that one alone is released.

Each run draws one of the k candidates and releases it with its noisy score, at a known Renyi divergence. If the number
of runs were known, it would have to be paid for in full. A random number, which stays secret, costs two or three times
one run, however many runs there are (Liu and Talwar 2019; Papernot and Steinke 2022). In return the best candidate may
never be run. `tuned_alpha.py` pays for all candidates, and runs each of them.

Scores must be of outputs of the runs and must not tie with different outputs: ties go to the earlier run. The number is
drawn from the operating system's randomness.
"""

import itertools
import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from scipy import optimize

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.privacy.renyi_conversion import deltas_of_rdp

Output = TypeVar("Output")


class Repetitions(Protocol):
    """A distribution of the number of runs."""

    @property
    def mean(self) -> float:
        """Expected number of runs."""

    def generating(self, x: float) -> float:
        """Probability generating function: the expectation of x to the power of the number of runs."""

    def probabilities(self) -> Iterator[float]:
        """Probabilities of 0, 1, 2, ... runs, without end."""

    def rdp(self, orders: Array, run: Array) -> Array:
        """Renyi divergence of the best of all runs at each order; run: that of one run, at the same orders."""


@dataclass(frozen=True)
class NegativeBinomial:
    """Truncated negative binomial numbers, at least one (Papernot and Steinke 2022, Definition 1).

    shape: eta above -1, 1 for geometric numbers (Liu and Talwar 2019), 0 for logarithmic ones; gamma: in (0, 1).
    """

    shape: float
    gamma: float

    def __post_init__(self) -> None:
        if not (self.shape > -1 and 0 < self.gamma < 1):
            raise AuditError(
                f"private selection: shape {self.shape}, gamma {self.gamma}; give -1 < shape, 0 < gamma < 1"
            )

    @property
    def mean(self) -> float:
        """Expected number of runs."""
        odds = (1 - self.gamma) / self.gamma
        return odds / -math.log(self.gamma) if self.shape == 0 else self.shape * odds / (1 - self.gamma**self.shape)

    def generating(self, x: float) -> float:
        """Probability generating function."""
        left = 1 - (1 - self.gamma) * x
        if self.shape == 0:
            return math.log(left) / math.log(self.gamma)
        return (left**-self.shape - 1) / (self.gamma**-self.shape - 1)

    def probabilities(self) -> Iterator[float]:
        """Probabilities of 0, 1, 2, ... runs."""
        eta, gamma = self.shape, self.gamma
        yield 0.0
        share = (1 - gamma) / -math.log(gamma) if eta == 0 else eta * (1 - gamma) / (gamma**-eta - 1)
        for number in itertools.count(1):
            yield share
            share *= (1 - gamma) * (number + eta) / (number + 1)

    def rdp(self, orders: Array, run: Array) -> Array:
        """Renyi divergence of the best of all runs (Theorem 2, with the best second order of `orders`)."""
        second = ((1 - 1 / orders) * run - math.log(self.gamma) / orders).min()
        return run + (1 + self.shape) * second + math.log(self.mean) / (orders - 1)


@dataclass(frozen=True)
class Poisson:
    """Poisson numbers of runs, which may be 0: then nothing is released."""

    mean: float

    def __post_init__(self) -> None:
        if not self.mean > 0:
            raise AuditError(f"private selection: a mean of {self.mean} runs; give a positive number")

    def generating(self, x: float) -> float:
        """Probability generating function."""
        return math.exp(self.mean * (x - 1))

    def probabilities(self) -> Iterator[float]:
        """Probabilities of 0, 1, 2, ... runs."""
        share = math.exp(-self.mean)
        for number in itertools.count(1):
            yield share
            share *= self.mean / number

    def rdp(self, orders: Array, run: Array) -> Array:
        """Renyi divergence of the best of all runs (Theorem 6); delta of one run follows from `run`."""
        deltas = deltas_of_rdp(orders, run, np.log1p(1 / (orders - 1)))
        return run + self.mean * deltas + math.log(self.mean) / (orders - 1)


@dataclass(frozen=True)
class Selection:
    """Selection among candidates 0 ... candidates - 1, each drawn with equal probability in a run."""

    candidates: int
    repetitions: Repetitions

    @cached_property
    def chance(self) -> float:
        """Probability that any given candidate is run at least once."""
        return 1 - self.repetitions.generating(1 - 1 / self.candidates)

    def choose(self, run: Callable[[int], tuple[float, Output]]) -> tuple[int, Output] | None:
        """Candidate and output of the run with the largest score, None after no run; nothing else may be published.

        run: the private run of a candidate, with fresh noise: its score, a function of what the run releases, and its
        output.
        """
        best: tuple[float, int, Output] | None = None
        for _ in range(drawn(self.repetitions)):
            candidate = secrets.randbelow(self.candidates)
            score, output = run(candidate)
            if best is None or score > best[0]:
                best = score, candidate, output
        return best[1:] if best else None


def drawn(repetitions: Repetitions) -> int:
    """A number of runs, from the operating system's randomness."""
    left = secrets.SystemRandom().random()
    for number, share in enumerate(repetitions.probabilities()):
        left -= share
        # Beyond the last bit of `left` all shares are 0.
        if left < 0 or (share == 0 and number > repetitions.mean):
            return number
    raise AssertionError("probabilities have no end")


def with_chance(candidates: int, chance: float, shape: float) -> Selection:
    """The selection that runs any given candidate with this probability; shape: eta, infinite for Poisson numbers.

    Raises AuditError where the probability is no larger than that of the least selection.
    """
    if shape == math.inf:
        return Selection(candidates, Poisson(-candidates * math.log1p(-chance)))
    excess = lambda log: Selection(candidates, NegativeBinomial(shape, math.exp(log))).chance - chance  # noqa: E731
    least, largest = -100.0, -1e-9
    if not excess(largest) < 0 < excess(least):
        raise AuditError(f"private selection: a chance of {chance:g} of {candidates} candidates; give one nearer to 1")
    return Selection(candidates, NegativeBinomial(shape, math.exp(optimize.brentq(excess, least, largest))))
