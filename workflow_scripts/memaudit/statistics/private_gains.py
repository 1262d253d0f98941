"""Shares of the non-private gain over chance that methods keep, and how far one beats another, from measured repeats.

Gain: balanced accuracy minus one over the number of classes. The reference is the non-private context with the better
of two decision rules; a baseline has the better of both as well, and one more entry (`PLAIN`) with the first rule;
private contexts are used as a user would, with the class of the largest probability.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common.arrays import Array
from memaudit.statistics.intervals import mean_of
from memaudit.statistics.kept_share import MET, NOT_MET, KeptShare, kept_share
from memaudit.statistics.mean_interval import mean_over_groups

NON_PRIVATE, WITHOUT_NOISE = "non-private", "without noise"
RULES = ("largest", "by share")
BASELINES = ("dp_linear", "dp_sgd")
PLAIN = ", plain"  # a baseline that is used as it is, with the class of the largest probability
# The share that is demanded from so many records on, by epsilon.
DEMANDS = {1.0: ((1000, 0.75), (5000, 0.9)), 10.0: ((1000, 0.95),)}
Key = tuple[str, float | None, int]  # method, epsilon, records
Difference = tuple[float, float, float]  # mean, low, high


@dataclass(frozen=True)
class TableGains:
    """Gains of one table, (repeat,) each, by method, epsilon and number of records, and the table's facts."""

    table: str
    classes: int
    features: int
    gains: Mapping[Key, Array]

    @property
    def sizes(self) -> list[int]:
        """Numbers of private records, ascending."""
        return sorted({size for method, _, size in self.gains if method == NON_PRIVATE})

    def share(self, method: str, epsilon: float | None, size: int) -> KeptShare:
        """Share of the non-private gain that a method keeps."""
        return kept_share(self.gains[method, epsilon, size], self.gains[NON_PRIVATE, None, size])

    def differences(self, method: str, other: str, epsilon: float, size: int) -> Array:
        """Paired differences of balanced accuracy of two methods (repeat,)."""
        return self.gains[method, epsilon, size] - self.gains[other, epsilon, size]

    def near(self, size: int) -> int:
        """The table's largest number of records up to `size`."""
        return max((one for one in self.sizes if one <= size), default=self.sizes[0])

    def met_from(self, method: str, epsilon: float, by_estimate: bool = False) -> int | None:
        """Smallest number of records from which on the demand at that number is met, at all larger ones, too.

        by_estimate: by the share itself, whatever its interval. Below the first demand its share is demanded. None
        where it is not met at the largest number.
        """
        found = None
        for size in reversed(self.sizes):
            share, wanted = self.share(method, epsilon, size), demand(epsilon, size)
            if not (share.estimate >= wanted if by_estimate else share.verdict(wanted) == MET):
                break
            found = size
        return found


def demand(epsilon: float, size: int) -> float:
    """The share demanded at this number of records: that of the largest step up to it, or of the first."""
    steps = DEMANDS[epsilon]
    return [share for least, share in steps if least <= max(size, steps[0][0])][-1]


def tables_of(parts: Iterable[Mapping[str, Any]]) -> list[TableGains]:
    """Gains of every table with two repeats or more; parts: repeats of tables, as measured."""
    by_table: dict[str, list[Mapping[str, Any]]] = {}
    for part in parts:
        by_table.setdefault(part["table"], []).append(part)
    return [_table(repeats) for repeats in by_table.values() if len(repeats) > 1]


def best_method(tables: Sequence[TableGains], epsilon: float) -> str:
    """The private context with the largest mean share over the largest sample of every table: one for all tables."""
    known = {name: None for name, of, _ in tables[0].gains if of == epsilon}
    methods = [name for name in known if not name.startswith(BASELINES)]
    return max(methods, key=lambda name: mean_share(tables, name, epsilon)[0])


def mean_share(tables: Sequence[TableGains], method: str, epsilon: float, size: int | None = None) -> Difference:
    """Mean over tables of the share kept near `size`, or at the largest sample, with its 95 % interval (MOVER).

    Tables on which the non-private context has no gain are left out.
    """
    return mean_of_shares([one.share(method, epsilon, one.near(size or one.sizes[-1])) for one in tables])


def mean_of_shares(shares: Sequence[KeptShare]) -> Difference:
    """Mean of the shares of several tables with its 95 % interval (MOVER); those without a gain are left out."""
    known = [share for share in shares if not np.isnan(share.estimate)]
    if not known:
        return np.nan, np.nan, np.nan
    return mean_of(*(np.array([getattr(one, name) for one in known]) for name in ("estimate", "low", "high")))


def samples_like(tables: Sequence[TableGains], records: int) -> list[tuple[TableGains, int]]:
    """Tables with a sample of about this number of records, each with the number nearest by ratio.

    Those within a factor of two of the nearest of all, so that a table of another size does not speak for this one.
    """
    distance = lambda size: abs(math.log(size / records))  # noqa: E731
    nearest = [(one, min(one.sizes, key=distance)) for one in tables]
    closest = min(nearest, key=lambda found: distance(found[1]))[1]
    return [(one, size) for one, size in nearest if 0.5 <= size / closest <= 2]


def mean_difference(
    tables: Sequence[TableGains], method: str, other: str, epsilon: float, size: int | None = None
) -> Difference:
    """Mean over tables of the paired difference near `size`, or at the largest sample, with its 95 % interval."""
    return mean_over_groups(
        [one.differences(method, other, epsilon, one.near(size or one.sizes[-1])) for one in tables]
    )


def limit(table: TableGains, method: str, epsilon: float) -> str:
    """What keeps the share below its demand at the largest sample, in words; nothing where it is not below."""
    size = table.sizes[-1]
    wanted = demand(epsilon, size)
    if table.share(method, epsilon, size).verdict(wanted) != NOT_MET:
        return ""
    exact = table.share(WITHOUT_NOISE, None, size)
    kept = f"without any noise, learned labels keep {exact.estimate:.0%} ({exact.low:.0%} to {exact.high:.0%})"
    if exact.verdict(wanted) == NOT_MET:
        return f"the form of the context: {kept}"
    return f"the noise, so the number of records: {kept}" if exact.verdict(wanted) == MET else f"not told: {kept}"


def _table(repeats: Sequence[Mapping[str, Any]]) -> TableGains:
    classes = repeats[0]["classes"]
    scores: dict[Key, list[list[float]]] = {}
    for cell in (cell for repeat in repeats for cell in repeat["cells"]):
        key = cell["method"], cell["epsilon"], cell["n"]
        scores.setdefault(key, []).append([cell[rule] - 1 / classes for rule in RULES])
    by_rule = {key: np.array(values) for key, values in scores.items() if len(values) == len(repeats)}
    gains = {key: _of_rule(key[0], values) for key, values in by_rule.items()}
    gains |= {(key[0] + PLAIN, *key[1:]): values[:, 0] for key, values in by_rule.items() if key[0] in BASELINES}
    return TableGains(repeats[0]["table"], classes, repeats[0]["features"], gains)


def _of_rule(method: str, gains: Array) -> Array:
    """(repeat,) of gains (repeat, rule): the better rule in the mean for the reference and for baselines."""
    return gains[:, gains.mean(0).argmax() if method in (NON_PRIVATE, *BASELINES) else 0]
