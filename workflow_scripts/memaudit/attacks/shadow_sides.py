"""Shadow models of every target of a score matrix, without the target or without its pair."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.cross_fitting import of_models
from memaudit.common.arrays import Array, Mask

# What the fits of a target leave out.
# "self" (every published code): the target. A member target then meets n - 1 IN and n OUT shadow models, a non-member n
# and n - 1, and the better-estimated side fits better: without any leak the pooled AUC of few models is below 0.5.
# "pair": each record's k-th model in is paired with its k-th model out, models without a partner serve in no fit, and a
# target leaves with its pair (a target without one with the pair of its turn). Every target of a record then meets as
# many models on either side: where nothing leaks, IN and OUT scores have one distribution whatever the signal's.
# Scores of one record remain dependent, since each is in the fits of the others. So the pooled AUC is 0.5 for many
# records but lower for few. Compare it with the mean of the randomisation null (statistics.randomisation_tests), not
# with 0.5.
Leave = Literal["self", "pair"]
Places = NDArray[np.intp]  # see `pair_places`


class Side(NamedTuple):
    """Shadow models of one side, and what the fit of each target does without; all (model, record).

    values: signals; member: models that serve in the fits, None: all; leaver: value that leaves each target's fit,
    None: its own where it serves.
    """

    values: Array
    member: Mask | None = None
    leaver: Array | None = None


class Arranged(NamedTuple):
    """Some records' signals with the IN and OUT shadow models of their targets, in pairs or not; see `split_sides`."""

    values: Array
    member: Mask
    sides: tuple[Side, Side]
    places: Places | None

    def split(self, numbers: Array) -> Array:
        """Numbers of each target (model, record), in the arrangement of `values`."""
        numbers = np.broadcast_to(numbers, self.member.shape)
        return numbers if self.places is None else split_sides(numbers, self.places)

    def of_folds(self, numbers: Array) -> Array:
        """Numbers of each fold of models (fold, record), for each target in the arrangement of `values`."""
        return self.split(of_models(numbers, len(self.member)))

    def joined(self, numbers: Array) -> Array:
        """Numbers in the arrangement of the fits, as (model, record)."""
        return numbers if self.places is None else join_sides(numbers, self.places)


def arrange(values: Array, member: Mask, leave: Leave = "pair", in_pairs: bool = False) -> Arranged:
    """Shadow models of every target; values, member: (model, record); in_pairs: of a balanced matrix without pairs."""
    if not in_pairs:
        return Arranged(values, member, sides(values, member, leave), None)
    places = pair_places(member)
    split = split_sides(values, places)
    return Arranged(split, member, (Side(split[0]), Side(split[1])), places)


def sides(signals: Array, membership: Mask, leave: Leave = "pair") -> tuple[Side, Side]:
    """IN and OUT shadow models of every target; signals, membership: (model, record)."""
    if leave == "self":
        return Side(signals, membership), Side(signals, ~membership)
    count = membership.sum(0)
    pairs = np.minimum(count, len(membership) - count)
    number = np.cumsum(membership, axis=0)
    place = np.where(membership, number, np.arange(1, len(membership) + 1)[:, None] - number) - 1
    # Positions of a record's IN models, then of its OUT models.
    members_first = np.argsort(~membership, axis=0, kind="stable")
    turn = place % np.maximum(pairs, 1)
    leavers = (
        np.take_along_axis(signals, np.take_along_axis(members_first, first + turn, axis=0), axis=0)
        for first in (0, np.minimum(count, len(membership) - 1))
    )
    paired = place < pairs
    served = membership & paired, ~membership & paired
    return tuple(Side(signals, side, leaver) for side, leaver in zip(served, leavers, strict=True))


def is_balanced(membership: Mask) -> bool:
    """Whether every record is in half of the models: `split_sides` then gives what leaving out pairs comes to."""
    return bool((2 * membership.sum(0) == len(membership)).all())


def pair_places(membership: Mask) -> Places:
    """Places of the IN and of the OUT entries of a balanced matrix, (side, record, pair), for `split_sides`.

    They count record by record, a record's models in their order.
    """
    by_record = np.ascontiguousarray(membership.T)
    return np.stack([np.flatnonzero(side).reshape(len(by_record), -1) for side in (by_record, ~by_record)])


def split_sides(values: Array, places: Places) -> Array:
    """IN values and OUT values of every record in the order of its models: (side, pair, record).

    In a balanced matrix a target leaves with its pair, so that leaving out pairs is leaving one value out of each side:
    fits are (pair, record), half of the entries, and serve both targets of a pair.
    """
    return np.ascontiguousarray(values.T).ravel().take(places).swapaxes(1, 2)


def join_sides(split: Array, places: Places) -> Array:
    """Inverse of `split_sides`: (model, record) of (side, pair, record), or of (pair, record) for both sides."""
    joined = np.empty(places.size)
    joined[places] = split.swapaxes(-1, -2)
    return joined.reshape(places.shape[1], -1).T
