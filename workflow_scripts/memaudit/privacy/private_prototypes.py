"""Private prototypes of DP-TabICL, central variant (GDP-TabICL, Carey et al. 2024; TabPATE, Appendix C).

The records are partitioned, the mean of each column of a part is released by the Laplace mechanism, and these
prototypes form the context. The paper partitions at random within classes, in equal sizes: removing one record moves
others, so that more than one mean changes. Here a part is a class and a shard, the keyed hash of a record's unit: the
part of a record depends on that record alone, parts are disjoint, and all prototypes together cost as much as one. The
label of a prototype is its class. For a number target, equal intervals of the public range replace the classes, and
their midpoints are the labels.

The guarantee is pure epsilon-DP for adding or removing one unit. The number of records of a part is private, too, so it
is released with the sums. The prototype of an empty part is pure noise.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.privacy.discrete_noise import Noise, discrete_laplace
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Context, Private, Targets, shards_of
from memaudit.privacy.unit_lattice import STEPS, lattice_contributions


def release_prototypes(
    private: Private, epsilon: float, prototypes: int, *, intervals: int = 10, noise: Noise = discrete_laplace
) -> Context:
    """Prototypes x (prototypes, d), y (prototypes,), in the form of the records.

    prototypes: divided equally between the classes, the first ones take the remainder; intervals: groups of a number
    target. Raises AuditError for a budget without noise, and for fewer prototypes than classes or intervals.
    """
    if not 0 < epsilon < float("inf"):
        raise AuditError(f"prototypes: epsilon is {epsilon}, which guarantees nothing; give a number above 0")
    public = private.public
    parts, labels = parts_of(private, prototypes, intervals)
    sums = np.zeros((prototypes, 1 + sum(_sizes(public))), dtype=np.int64)
    np.add.at(sums, parts, lattice_vectors(private.x, private.units, public))
    return _means(noise(sums, sensitivity(public) * STEPS / epsilon) / STEPS, public), labels


def sensitivity(public: Public) -> int:
    """L1 sensitivity of all sums to one unit: 1 for the count, and 1 for each column.

    A number in [-1, 1] adds at most 1 to its sum; a category adds 1 to one bin of its histogram.
    """
    return 1 + len(public.columns)


def lattice_vectors(x: Array32, units: Sequence[str], public: Public) -> NDArray[np.int64]:
    """Contribution of each record to its part, in lattice steps: (n, 1 + numbers and categories in the columns' order).

    The count, scaled numbers, and one-hot categories. A missing number counts as the middle of its range, a missing
    category as none. No value exceeds the bound.
    """
    blocks = [np.ones((len(x), 1))]
    for column, kind, values in zip(public.columns, public.numeric, public.scaled(x).T, strict=True):
        blocks.append(np.nan_to_num(values)[:, None] if kind else values[:, None] == np.arange(len(column.values)))
    return lattice_contributions(np.hstack(blocks), units)


def parts_of(private: Private, prototypes: int, intervals: int) -> tuple[NDArray[np.int64], Targets]:
    """Part of each record (n,), in 0 ... prototypes - 1, and label of each part (prototypes,)."""
    target, y = private.public.target, private.y
    if private.public.task == "classification":
        group, labels = y, np.arange(len(target.values))
    else:
        lower, upper = target.bounds
        group = target.interval(y, intervals)
        labels = lower + (np.arange(intervals) + 0.5) * (upper - lower) / intervals
    if prototypes < len(labels):
        raise AuditError(f"{prototypes} prototypes cannot have {len(labels)} labels; take at least one for each")
    of_group = np.bincount(np.arange(prototypes) % len(labels))
    first, parts = np.cumsum(of_group) - of_group, np.zeros(len(y), dtype=np.int64)
    units = np.asarray(private.units, dtype=str)
    for number, shards in enumerate(of_group):
        mine = group == number
        parts[mine] = first[number] + shards_of(units[mine].tolist(), private.key, int(shards))
    return parts, np.repeat(labels, of_group)


def _means(noisy: Array, public: Public) -> Array32:
    """Prototypes (part, d) from noisy sums (part, 1 + entries): means within the bounds, most frequent categories."""
    count, *sums = np.split(noisy, np.cumsum([1, *_sizes(public)[:-1]]), axis=1)
    scaled = [
        np.clip(total / np.maximum(count, 1), -1, 1)[:, 0] if kind else total.argmax(1)
        for kind, total in zip(public.numeric, sums, strict=True)
    ]
    return public.unscaled(np.stack(scaled, 1))


def _sizes(public: Public) -> list[int]:
    """Entries of each column in the sums."""
    return [1 if column.type == "numeric" else len(column.values) for column in public.columns]
