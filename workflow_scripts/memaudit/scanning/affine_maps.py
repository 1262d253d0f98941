"""Find the shift and scale that take an array's numbers to those of a table's column, if there are some."""

import numpy as np

from memaudit.common.arrays import Array

FEWEST, MOST_PAIRS = 20, 250_000
PROBES, MISSED = 24, 2
LOW, HIGH = 0.05, 0.95
NEAR = 4.0  # standard errors of a quantile's rank
SHAPE = 0.35  # greatest difference of standardised quantiles, in standard deviations
TOLERANCE = 3e-6  # of the column's range


def affine_map(values: Array, column: Array) -> Array | None:
    """The values (n,) mapped to the column (m,) by a positive scale and a shift, None where there is no such map.

    Two of the values are taken to be rows of the column of about the same ranks: every pair of candidates is a map,
    which is tried on some more values. It is found if nearly all values of the array stand in the column after it; the
    array's rows may be any random part of the column's.
    """
    known, own = np.sort(values[np.isfinite(values)]), np.unique(column[np.isfinite(column)])
    if len(known) < FEWEST or len(own) < FEWEST or not _alike(shape(values), shape(column)):
        return None
    first, second = (known[int(share * (len(known) - 1))] for share in (LOW, HIGH))
    if first == second:
        return None
    lows, highs = (_near(column, share, len(known)) for share in (LOW, HIGH))
    if len(lows) * len(highs) > MOST_PAIRS:
        return None
    low, high = (one.ravel() for one in np.meshgrid(lows, highs, indexing="ij"))
    low, high = low[high > low], high[high > low]
    scale = (high - low) / (second - first)
    probes = known[np.linspace(0, len(known) - 1, PROBES).astype(int)]
    missed = np.zeros(len(scale))
    for probe in probes:
        missed += ~_within(low + scale * (probe - first), own)
        left = missed <= MISSED
        low, scale, missed = low[left], scale[left], missed[left]
    if not len(missed):
        return None
    best = int(missed.argmin())
    mapped = low[best] + scale[best] * (values - first)
    if _within(mapped[np.isfinite(mapped)], own).mean() < 0.9:
        return None
    return _rounded(mapped, own)


def _near(column: Array, share: float, count: int) -> Array:
    """Values of the column whose ranks are near a quantile of a random part of this many rows."""
    ordered = np.sort(column[np.isfinite(column)])
    error = NEAR * np.sqrt(share * (1 - share) / count) + 2 / len(ordered)
    low, high = (int(np.clip((share + sign * error) * len(ordered), 0, len(ordered) - 1)) for sign in (-1, 1))
    return np.unique(ordered[low : high + 1])


def shape(values: Array) -> Array | None:
    """Standardised deciles (9,) of values, None for few or equal ones: a quick look before the search."""
    known = np.sort(values[np.isfinite(values)])
    if len(known) < FEWEST:
        return None
    deciles = known[(np.linspace(0.1, 0.9, 9) * (len(known) - 1)).astype(int)]
    spread = deciles.std()
    return (deciles - deciles.mean()) / spread if spread > 0 else None


def _alike(first: Array | None, second: Array | None) -> bool:
    return first is not None and second is not None and bool(np.abs(first - second).max() < SHAPE)


def _nearest(values: Array, own: Array) -> Array:
    place = np.searchsorted(own, values).clip(1, len(own) - 1)
    return np.where(np.abs(own[place - 1] - values) < np.abs(own[place] - values), own[place - 1], own[place])


def _within(values: Array, own: Array) -> Array:
    return np.abs(_nearest(values, own) - values) <= TOLERANCE * (own[-1] - own[0])


def _rounded(mapped: Array, own: Array) -> Array:
    """Mapped values with those of the column in their place where they are near."""
    finite = np.where(np.isfinite(mapped), mapped, own[0])
    return np.where(np.isfinite(mapped) & _within(finite, own), _nearest(finite, own), mapped)
