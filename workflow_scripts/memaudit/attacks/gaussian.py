"""Gaussian fits of a record's signals under shadow models, with and without the target's own value."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from memaudit.attacks.shadow_sides import Leave, Side, sides
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

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
    count, mean, squares = fit_moments(shadow, member)
    centre = _median(shadow, member) if convention.centre == "median" else mean
    if spread is Spread.RAW:
        variance = shadow[member].var(ddof=convention.ddof)
    elif spread is Spread.POOLED:
        variance = (squares + count * (mean - centre) ** 2).sum() / (count - convention.ddof).sum()
    else:
        variance = squares / (count - convention.ddof)
    return Gaussian(centre, to_sigma(variance, convention, floor))


class Moments(NamedTuple):
    """Number, mean and sum of squared deviations of the values in a fit, each broadcasting to (model, record)."""

    count: NDArray[np.int64] | int
    mean: Array
    squares: Array


def fit_without_target(
    signals: Array,
    member: Mask,
    convention: Convention,
    spread: Spread = Spread.PER_RECORD,
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Gaussian:
    """Fit every record once per target model, on the *other* models where `member` is True.

    signals, member: (model, record); leave: see `Leave`. Returns centre and sigma of shape (model, record) or, pooled,
    sigma of (model, 1).
    """
    return side_gaussian(sides(signals, member, leave)[0], convention, spread, floor)


def mean_without_target(side: Side) -> Array:
    """Mean of every fit without its target, (model, record)."""
    count, mean, own = _leaving(side)
    return mean - own / (count - 1)


def moments_without_target(side: Side) -> Moments:
    """Moments of every fit without its target.

    All M leave-one-out fits cost as much as one: with deviation d from the mean of n members, the mean without a member
    is mean - d / (n - 1), and the sum of squares loses d^2 n / (n - 1).
    """
    count, mean, own = _leaving(side)
    deviation = own if side.leaver is None else _deviation(side.values, side.member, mean)
    left = 1 if side.leaver is not None or side.member is None else side.member
    squares = np.einsum("mr,mr->r", deviation, deviation) - own**2 * (count / (count - 1))
    return Moments(count - left, mean - own / (count - 1), np.maximum(squares, 0.0))


def side_gaussian(side: Side, convention: Convention, spread: Spread, floor: float = 0.0) -> Gaussian:
    """Gaussian of every target's fit; centre (model, record), sigma alike or, pooled over records, (model, 1)."""
    fitted = moments_without_target(side)
    centre = _median_without(side) if convention.centre == "median" else fitted.mean
    if spread is Spread.RAW:
        variance = _raw_variance_without_model(side.values, side.member, convention.ddof)
    elif spread is Spread.POOLED:
        squares, freedom = pooled_squares(fitted, centre, convention.ddof)
        variance = (squares / freedom)[:, None]
    else:
        variance = fitted.squares / (fitted.count - convention.ddof)
    return Gaussian(centre, to_sigma(variance, convention, floor))


def pooled_squares(fitted: Moments, centre: Array, ddof: int) -> tuple[Array, Array]:
    """Sums over records, (model,), of squared deviations from each record's centre, and of degrees of freedom."""
    freedom = np.broadcast_to(fitted.count - ddof, centre.shape)
    return squares_about(fitted, centre).sum(1), freedom.sum(1)


def squares_about(fitted: Moments, centre: Array) -> Array:
    """Sums of squared deviations from another centre than the mean, (model, record)."""
    return fitted.squares if centre is fitted.mean else fitted.squares + fitted.count * (fitted.mean - centre) ** 2


def least_shadows(membership: Mask) -> NDArray[np.int64]:
    """(record,) fewest shadow models that any target of this membership matrix meets on one side."""
    inside = membership.sum(0)
    return np.maximum(np.minimum(inside, len(membership) - inside) - 1, 0)


def require_shadows(membership: Mask) -> None:
    """Raise AuditError, naming the first record, where a target would have fewer than 2 shadow models on one side."""
    least = least_shadows(membership)
    if (least < 2).any():
        record = int(np.argmax(least < 2))
        raise AuditError(
            f"record {record} has {least[record]} shadow models on one side of its membership matrix beside the target;"
            " 2 are needed: ask for more models (lira.models, or `models` of the setting)"
        )


def fit_moments(signals: Array, member: Mask) -> Moments:
    """Moments of every record's values where `member` is True, (record,) each; mean NaN where there are none."""
    count, mean = _mean(signals, member)
    # Squares of deviations, not a difference of squares: signals of 20 nats with a spread of 1e-6 occur.
    deviation = _deviation(signals, member, np.nan_to_num(mean))
    return Moments(count, mean, np.einsum("mr,mr->r", deviation, deviation))


def to_sigma(variance: Array, convention: Convention, floor: float = 0.0) -> Array:
    """Standard deviation of at least the convention's floor, and at least `floor`."""
    sigma = np.maximum(np.sqrt(variance), max(convention.floor, floor))
    return sigma + convention.added if convention.added else sigma


def _leaving(side: Side) -> tuple[NDArray[np.int64] | int, Array, Array]:
    """Number and mean of the side's values, and the deviation from it of what leaves each target's fit (0: nothing)."""
    count, mean = _mean(side.values, side.member)
    own = _deviation(side.values, side.member, mean) if side.leaver is None else side.leaver - mean
    return count, mean, own


def _mean(values: Array, member: Mask | None) -> tuple[NDArray[np.int64] | int, Array]:
    if member is None:
        return len(values), values.mean(0)
    count = member.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return count, (values * member).sum(0) / count


def _deviation(values: Array, member: Mask | None, mean: Array) -> Array:
    # A product: where the mask is random, np.where takes six times as long.
    deviation = values - mean
    return deviation if member is None else np.multiply(deviation, member, out=deviation)


def _raw_variance_without_model(signals: Array, member: Mask, ddof: int) -> Array:
    count = member.sum() - member.sum(1)
    centred = np.where(member, signals - signals[member].mean(), 0.0)
    total = centred.sum() - centred.sum(1)
    squares = (centred**2).sum() - (centred**2).sum(1)
    return ((squares - total**2 / count) / (count - ddof))[:, None]


def _median(signals: Array, member: Mask) -> Array:
    return np.nanmedian(np.where(member, signals, np.nan), axis=0)


def _median_without(side: Side) -> Array:
    """Median of the others, from one sort: which side of the middle a value leaves decides what moves there."""
    values, member, leaver = side
    if member is None:
        count, ordered = np.full(values.shape[1], len(values)), np.sort(values, axis=0)
    else:
        count, ordered = member.sum(0), np.sort(np.where(member, values, np.inf), axis=0)
    half = count // 2
    ranks = np.clip(half + np.array([[-1], [0], [1]]), 0, len(ordered) - 1)
    low, middle, high = np.take_along_axis(ordered, ranks, axis=0)
    odd = count % 2 == 1
    # Medians after a value has left below the middle, in it (odd numbers) and above, and with none gone.
    after_odd = (middle + high) / 2, (low + high) / 2, (low + middle) / 2, middle
    after_even = middle, low, low, (low + middle) / 2
    after = np.where(odd, after_odd, after_even)
    leaves = values if leaver is None else leaver
    case = (leaves > np.where(odd, middle, low)).astype(np.int8) + (leaves >= np.where(odd, middle, np.inf))
    if leaver is None and member is not None:
        case = np.where(member, case, 3)
    return after.T.ravel().take(case + 4 * np.arange(values.shape[1]))
