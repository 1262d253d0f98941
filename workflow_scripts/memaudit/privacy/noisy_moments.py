"""Noisy moments of private records, from which queries are drawn (TabPATE, Section 4; Appendix B, "Query generation").

The paper releases a count, sums and sums of squares of clipped feature vectors. Here they are one vector query,
released once: each block of a record's vector is scaled to norm 1, categories are a fourth block, and all blocks get
the same discrete Gaussian noise. Each record's vector is rounded to a lattice, towards zero, before the vectors are
summed, so that the sensitivity holds in integers, without floating-point error (Mironov 2012). Adjacency is add/remove
of one privacy unit: the records of a person share the weight of one.

For scaled numbers z of a record, each in [-1, 1] and with norm at most C, the norm of the squares is at most the norm
of z times its largest entry, C min(1, C). With C > 1 this is less than the paper's bound C^2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS, lattice_contributions


@dataclass(frozen=True)
class Moments:
    """Noisy sums over the records of each group; noise can make counts negative: use the methods.

    count: (group,); total, squares: (group, number), of the numeric columns scaled to [-1, 1]; categories: (group,
    category) counts of each categorical column.
    """

    count: Array
    total: Array
    squares: Array
    categories: tuple[Array, ...]

    def mean(self) -> Array:
        """(group, number) in [-1, 1]. A group with a noisy count below one is treated as one record."""
        return np.clip(self.total / np.maximum(self.count, 1)[:, None], -1, 1)

    def deviation(self) -> Array:
        """(number,) standard deviations within groups, pooled: clipped to the range possible in [-1, 1].

        Squares are the noisiest moment, and a class may have few records; pooling averages the noise of all classes.
        """
        mean = self.mean()
        variance = np.clip(self.squares / np.maximum(self.count, 1)[:, None] - mean**2, 0, 1 - mean**2)
        return np.sqrt(self.group_shares() @ variance)

    def shares(self) -> tuple[Array, ...]:
        """(group, category) shares in each categorical column."""
        return tuple(map(_shares, self.categories))

    def group_shares(self) -> Array:
        """(group,) share of the records in each group."""
        return _shares(self.count)


def release_moments(
    private: Private,
    sigma: float,
    *,
    clip: float,
    by_class: bool,
    bins: int = 5,
    noise: Noise = discrete_gaussian,
) -> Moments:
    """Noisy moments of private records.

    sigma: deviation of the noise, in records: the release is rho-zCDP, rho = moments_sensitivity^2 / (2 sigma^2), for
    adding or removing one unit; clip: C, the largest norm of the scaled numbers; by_class: a group for each class, or
    for each of `bins` equal parts of a number target's public range, at no further cost, else one group.
    """
    public, target = private.public, private.public.target
    vectors = lattice_vectors(private.x, private.units, public, clip)
    groups, group = 1, np.zeros(len(private.y), dtype=np.int64)
    if by_class and public.task == "classification":
        groups, group = len(target.values), private.y
    elif by_class:
        groups, group = bins, target.interval(private.y, bins)
    sums = np.stack([vectors[group == number].sum(0) for number in range(groups)])
    noisy = noise(sums, sigma * STEPS) / STEPS
    numbers, scale = np.count_nonzero(public.numeric), _scale(public, clip)
    count, total, squares, codes = np.split(noisy / scale, np.cumsum([1, numbers, numbers]), axis=1)
    categories = np.split(codes, np.cumsum(public.category_counts)[:-1], axis=1) if codes.size else ()
    return Moments(count[:, 0], total, squares, tuple(categories))


def moments_sensitivity(public: Public) -> float:
    """L2 sensitivity of the moments to one unit, in records: a norm of 1 for each block present."""
    return math.sqrt(1 + 2 * public.numeric.any() + (~public.numeric).any())


def lattice_vectors(x: Array32, units: Sequence[str], public: Public, clip: float) -> NDArray[np.int64]:
    """Contribution of each record to the moments, in lattice steps: (n, 1 + 2 numbers + categories).

    A missing number counts as the middle of its range, a missing category as none. No value of x exceeds the bound.
    """
    if not clip > 0:
        raise AuditError(f"clip is {clip}; the norm of the scaled numbers is clipped to a number above 0")
    scaled = np.nan_to_num(public.scaled(x)[:, public.numeric])
    norm = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled *= clip / np.maximum(norm, clip)
    pairs = zip(x[:, ~public.numeric].T, public.category_counts, strict=True)
    categories = [column[:, None] == np.arange(size) for column, size in pairs]
    vectors = np.hstack([np.ones((len(x), 1)), scaled, scaled**2, *categories])
    return lattice_contributions(vectors * _scale(public, clip), units)


def _scale(public: Public, clip: float) -> Array:
    """Weight of each entry of a record's vector: it makes the norm of each block at most 1."""
    numbers, sizes = np.count_nonzero(public.numeric), public.category_counts
    weights = [1, 1 / clip, 1 / (clip * min(1, clip)), 1 / math.sqrt(max(len(sizes), 1))]
    return np.repeat(weights, [1, numbers, numbers, sum(sizes)])


def _shares(counts: Array) -> Array:
    """Shares over the last axis: negative counts are set to 0; equal shares where all are 0."""
    counts = np.maximum(counts, 0)
    counts = np.where(counts.any(-1, keepdims=True), counts, 1)
    return counts / counts.sum(-1, keepdims=True)
