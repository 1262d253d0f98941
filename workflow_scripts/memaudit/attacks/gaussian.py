"""Gaussian fits of a record's signals under shadow models, with and without the target's own value."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from memaudit.arrays import Array, Mask
from memaudit.errors import AuditError

# What the fits of a target leave out.
# "self" (every published code): the target. A member target then meets n - 1 IN and n OUT shadow models, a non-member n
# and n - 1, and the better-estimated side fits better: without any leak the pooled AUC of 16 models is 0.487.
# "pair": each record's k-th model in is paired with its k-th model out, models without a partner serve in no fit, and a
# target leaves with its pair (a target without one with the pair of its turn). Every target of a record then meets as
# many models on either side: where nothing leaks, IN and OUT scores have one distribution whatever the signal's, and
# the AUC is 0.500 at 16, 64 and 512 models (statistics.attack_performance).
Leave = Literal["self", "pair"]

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Convention:
    """How a record's Gaussian is estimated: centre, degrees of freedom of the deviation, and what keeps it positive."""

    centre: Literal["mean", "median"]
    ddof: int
    floor: float = 0.0
    added: float = 0.0


CONVENTIONS = {
    "mean": Convention("mean", ddof=0, floor=1e-12),  # lira-reliability paper's code
    "median": Convention("median", ddof=0, added=1e-30),  # tensorflow/privacy, mi_lira_2021
    "ddof1": Convention("mean", ddof=1, floor=1e-12),  # ethz-spylab, misleading-privacy-evals
}


class Spread(StrEnum):
    """Which deviation a record gets.

    PER_RECORD: its own. POOLED ("fixed variance"): one for all records, from values centred per record. RAW: from
    uncentred values, as tensorflow/privacy's plot.py and ethz-spylab publish it: the spread *between* records is
    counted as noise. (tensorflow/privacy moreover takes the IN deviation for OUT: `lira.log_likelihood_ratio`.)
    """

    PER_RECORD = "per_record"
    POOLED = "pooled"
    RAW = "raw"


@dataclass(frozen=True)
class Gaussian:
    """Centre and standard deviation, each broadcasting to (model, record)."""

    centre: Array
    sigma: Array

    def log_density(self, signals: Array) -> Array:
        """log N(signal; centre, sigma^2)."""
        return -LOG_SQRT_2PI - np.log(self.sigma) - 0.5 * self.standardise(signals) ** 2

    def log_cdf(self, signals: Array) -> Array:
        """log Pr(a draw is below the signal)."""
        return log_ndtr(self.standardise(signals))

    def standardise(self, signals: Array) -> Array:
        """(signal - centre) / sigma."""
        return (signals - self.centre) / self.sigma


def fit(
    shadow: Array, member: Mask, convention: Convention, spread: Spread = Spread.PER_RECORD, floor: float = 0.0
) -> Gaussian:
    """Fit every record on the shadow models where `member` is True: signals of other models are then scored with it.

    shadow, member: (model, record). Returns centre and sigma of shape (record,) or, pooled, sigma of shape ().
    """
    count, mean, squares = _moments(shadow, member)
    centre = _median(shadow, member) if convention.centre == "median" else mean
    if spread is Spread.RAW:
        variance = shadow[member].var(ddof=convention.ddof)
    elif spread is Spread.POOLED:
        variance = (squares + count * (mean - centre) ** 2).sum() / (count - convention.ddof).sum()
    else:
        variance = squares / (count - convention.ddof)
    return Gaussian(centre, _sigma(variance, convention, floor))


def fit_without_target(
    signals: Array,
    member: Mask,
    convention: Convention,
    spread: Spread = Spread.PER_RECORD,
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Gaussian:
    """Fit every record once per target model, on the *other* models where `member` is True.

    All M leave-one-out fits cost as much as one: with deviation d from the mean of n members, the mean without a member
    is mean - d / (n - 1), and the sum of squares loses d^2 n / (n - 1).
    signals, member: (model, record); leave: see `Leave`. Returns centre and sigma of shape (model, record) or, pooled,
    sigma of (model, 1).
    """
    leaver, left = signals, member
    if leave == "pair":
        left = np.ones_like(member)
        leaver, member = _paired(signals, member)
    count, mean, squares = _moments(signals, member)
    own = np.where(left, leaver - mean, 0.0)
    others = count - left
    squares = np.maximum(squares - own**2 * (count / (count - 1)), 0.0)
    mean = mean - own / (count - 1)
    centre = _median_without(leaver, left, signals, member) if convention.centre == "median" else mean
    if spread is Spread.RAW:
        variance = _raw_variance_without_model(signals, member, convention.ddof)
    elif spread is Spread.POOLED:
        pool = squares + others * (mean - centre) ** 2
        variance = pool.sum(1, keepdims=True) / (others - convention.ddof).sum(1, keepdims=True)
    else:
        variance = squares / (others - convention.ddof)
    return Gaussian(centre, _sigma(variance, convention, floor))


def least_shadows(design: Mask) -> NDArray[np.int64]:
    """(record,) fewest shadow models that any target of this membership matrix meets on one side."""
    inside = design.sum(0)
    return np.maximum(np.minimum(inside, len(design) - inside) - 1, 0)


def require_shadows(design: Mask) -> None:
    """Raise AuditError, naming the first record, where a target would have fewer than 2 shadow models on one side."""
    least = least_shadows(design)
    if (least < 2).any():
        record = int(np.argmax(least < 2))
        raise AuditError(
            f"record {record} has {least[record]} shadow models on one side of its membership design beside the target;"
            " 2 are needed: ask for more models (lira.models, or `models` of the setting)"
        )


def _moments(signals: Array, member: Mask) -> tuple[NDArray[np.int64], Array, Array]:
    count = member.sum(0)
    mean = np.einsum("mr,mr->r", signals, member) / count
    # Squares of deviations, not a difference of squares: signals of 20 nats with a spread of 1e-6 occur.
    deviation = np.where(member, signals - mean, 0.0)
    return count, mean, np.einsum("mr,mr->r", deviation, deviation)


def _sigma(variance: Array, convention: Convention, floor: float) -> Array:
    return np.maximum(np.sqrt(variance), max(convention.floor, floor)) + convention.added


def _raw_variance_without_model(signals: Array, member: Mask, ddof: int) -> Array:
    count = member.sum() - member.sum(1)
    centred = np.where(member, signals - signals[member].mean(), 0.0)
    total = centred.sum() - centred.sum(1)
    squares = (centred**2).sum() - (centred**2).sum(1)
    return ((squares - total**2 / count) / (count - ddof))[:, None]


def _median(signals: Array, member: Mask) -> Array:
    return np.nanmedian(np.where(member, signals, np.nan), axis=0)


def _paired(signals: Array, member: Mask) -> tuple[Array, Mask]:
    """The signal that leaves every cell's fit, the member's of the cell's pair; and the members that have a pair."""
    pairs = np.minimum(member.sum(0), (~member).sum(0))
    rank = np.where(member, np.cumsum(member, axis=0), np.cumsum(~member, axis=0)) - 1
    members_first = np.argsort(~member, axis=0, kind="stable")
    leaver = np.take_along_axis(members_first, rank % np.maximum(pairs, 1), axis=0)
    return np.take_along_axis(signals, leaver, axis=0), member & (rank < pairs)


def _median_without(leaver: Array, left: Mask, signals: Array, member: Mask) -> Array:
    """Median of the others, from one sort: which side of the middle a value leaves decides what moves there."""
    count = member.sum(0)
    ordered = np.sort(np.where(member, signals, np.inf), axis=0)

    def order_statistic(rank: NDArray[np.int64]) -> Array:
        return np.take_along_axis(ordered, np.clip(rank, 0, len(ordered) - 1)[None], axis=0)[0]

    half = count // 2
    low, middle, high = order_statistic(half - 1), order_statistic(half), order_statistic(half + 1)
    in_upper_half = np.where(leaver > middle, (low + middle) / 2, (low + high) / 2)
    from_odd = np.where(leaver < middle, (middle + high) / 2, in_upper_half)
    from_even = np.where(leaver <= low, middle, low)
    odd = count % 2 == 1
    return np.where(left, np.where(odd, from_odd, from_even), np.where(odd, middle, (low + middle) / 2))
