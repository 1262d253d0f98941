"""Registry of simulations with known truth: one entry for each kind of interval, test and bound that a study prints.

A case is a function `trial(rng, **scenario)` that simulates one data set and returns, by metric, what the code under
test made of it: an `Interval`, a `Rejection` or a `Bound`. A new statistic of a study needs one function with `@case`
above it; `make coverage` then adds its numbers to docs/coverage.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

NOMINAL, LOW, HIGH, MOST = 0.95, 0.93, 0.97, 0.06


class Interval(NamedTuple):
    """95 % intervals and the true values that they should cover; arrays where one data set has several."""

    low: ArrayLike
    high: ArrayLike
    truth: ArrayLike


class Rejection(NamedTuple):
    """Rejection of a true null hypothesis at level .05: a bool, or the share of false ones among those rejected.

    of: None, or the number of statements of a data set of which `false` are false: pooled over data sets.
    """

    false: ArrayLike
    of: int | None = None


class Bound(NamedTuple):
    """A lower bound of 95 % confidence, and the true value that it should not exceed."""

    low: float
    truth: float


Outcome = Interval | Rejection | Bound
KINDS = {Interval: "interval", Rejection: "test", Bound: "bound"}
Trial = Callable[..., Mapping[str, Outcome]]


@dataclass(frozen=True)
class Case:
    """One kind of interval, test or bound.

    name: as the page shows it; printed: where studies print it; scenarios: options of `trial` by the name of the
    scenario; times: simulations of a cheap case, in multiples of the usual number; most: simulations at most, for
    expensive cases; use: what holds for its use, if limited.
    """

    name: str
    printed: str
    trial: Trial
    scenarios: Mapping[str, Mapping[str, Any]]
    times: int = 1
    most: int | None = None
    use: str = ""

    def simulations(self, usual: int) -> int:
        """Number of data sets of each scenario."""
        return min(self.times * usual, self.most or self.times * usual)


CASES: dict[str, Case] = {}


def case(
    name: str,
    printed: str,
    scenarios: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    times: int = 1,
    most: int | None = None,
    use: str = "",
) -> Callable[[Trial], Trial]:
    """Decorator that registers a trial function under its own name."""

    def register(trial: Trial) -> Trial:
        CASES[trial.__name__] = Case(name, printed, trial, scenarios or {"null": {}}, times, most, use)
        return trial

    return register


def summarise(outcomes: Sequence[Outcome], number: int) -> dict[str, Any]:
    """Rate of one metric over simulated data sets, with its Monte Carlo standard error and a verdict.

    number: data sets that were simulated; the code refused (AuditError) those without an outcome. Intervals: `rate` is
    the coverage, over those that are defined, `width` their mean width. Tests: the size, or the false discovery rate.
    Bounds: the share that exceeds the truth; `tightness` the median of bound over truth. `refused`: share of data sets
    without an outcome, or with an interval of NaN. NaN as None.
    """
    kind, refused = type(outcomes[0]), 1 - len(outcomes) / number
    if kind is Interval:
        low, high, truth = (
            np.array([getattr(one, name) for one in outcomes], dtype=float) for name in Interval._fields
        )
        defined = ~np.isnan(low)
        covered = np.where(defined, (low <= truth + 1e-12) & (truth <= high + 1e-12), np.nan)
        facts = {"width": _mean((high - low)[defined])}
        refused += len(outcomes) / number * float(1 - defined.mean())
    elif kind is Rejection and outcomes[0].of is not None:
        return _pooled(outcomes, number)
    elif kind is Rejection:
        covered, facts = np.array([one.false for one in outcomes], dtype=float), {}
    else:
        low, truth = np.array(outcomes, dtype=float).T
        covered, facts = (low > truth).astype(float), {}
        if (truth > 0).all():
            facts = {"tightness": float(np.median(low / truth))}
    each = _by_data_set(covered)
    error = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else None
    rate = _mean(each)
    return {"kind": KINDS[kind], "n": len(outcomes), "rate": rate, "error": error, **facts} | {
        "refused": refused,
        "verdict": verdict(kind, rate),
    }


def _pooled(outcomes: Sequence[Rejection], number: int) -> dict[str, Any]:
    """As `summarise`, of statements pooled over data sets; the error has the data sets as clusters."""
    false, of = np.array(outcomes, dtype=float).T
    total = of.sum()
    rate = float(false.sum() / total) if total else None
    error = float(np.sqrt(np.square(false - rate * of).sum()) / total) if total else None
    refused = 1 - np.count_nonzero(of) / number
    facts = {"kind": KINDS[Rejection], "n": len(outcomes), "rate": rate, "error": error, "refused": refused}
    return facts | {"verdict": verdict(Rejection, rate)}


def verdict(kind: type, rate: float | None) -> str:
    """The rate as a word: "as stated" for a coverage of 93 to 97 % or a size of at most 6 %."""
    if rate is None:
        return "refused"
    if kind is Interval:
        return "too narrow" if rate < LOW else "conservative" if rate > HIGH else "as stated"
    return "too often" if rate > MOST else "as stated"


def _by_data_set(covered: np.ndarray) -> np.ndarray:
    """Mean of each simulated data set (simulation,), those without a defined value left out."""
    flat = covered.reshape(len(covered), -1)
    defined = ~np.isnan(flat)
    kept = defined.any(1)
    return np.nansum(flat[kept], 1) / defined[kept].sum(1)


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None
