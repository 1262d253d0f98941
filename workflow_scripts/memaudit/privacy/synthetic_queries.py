"""Synthetic queries for the PATE teachers (TabPATE, Algorithm 1, lines 8 to 13).

They are drawn from public facts or from noisy moments already released, which costs no privacy.
"""

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.noisy_moments import Moments
from memaudit.privacy.public_facts import Public


def uniform(public: Public, count: int, rng: np.random.Generator) -> Array32:
    """Queries (count, d), as `Public.encode` gives records: numbers uniform within their bounds, categories uniform."""
    return _records(public, rng.uniform(-1, 1, (count, np.count_nonzero(public.numeric))), _alike(public, count), rng)


def gaussian(public: Public, count: int, rng: np.random.Generator) -> Array32:
    """Queries (count, d): numbers normal around the middle of their range, deviation a quarter of it, clipped."""
    return _records(public, rng.normal(0, 0.5, (count, np.count_nonzero(public.numeric))), _alike(public, count), rng)


def from_moments(
    moments: Moments, public: Public, count: int, rng: np.random.Generator, equal: bool = False
) -> tuple[Array32, NDArray[np.int64]]:
    """Queries (count, d) and the group of each (count,), drawn by the shares of the groups; equal: each as often.

    Within a group columns are independent: numbers normal around its mean, with the standard deviation shared by all
    groups, clipped to their bounds; categories by the group's shares.
    """
    groups = len(moments.count)
    group = rng.permutation(np.arange(count) % groups) if equal else rng.choice(groups, count, p=moments.group_shares())
    numbers = rng.normal(moments.mean()[group], moments.deviation())
    return _records(public, numbers, [shares[group] for shares in moments.shares()], rng), group


def _alike(public: Public, count: int) -> list[Array]:
    return [np.full((count, size), 1 / size) for size in public.category_counts]


def _records(public: Public, numbers: Array, shares: list[Array], rng: np.random.Generator) -> Array32:
    """Records from scaled numbers (n, number) and the probabilities (n, category) in each categorical column."""
    scaled = np.empty((len(numbers), len(public.columns)))
    scaled[:, public.numeric] = numbers
    for place, share in zip(np.flatnonzero(~public.numeric), shares, strict=True):
        scaled[:, place] = (rng.random((len(share), 1)) >= share.cumsum(1)[:, :-1]).sum(1)
    return public.unscaled(scaled)
