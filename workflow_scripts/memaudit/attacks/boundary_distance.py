"""Label-only attack by distance to the decision boundary (Choquette-Choo et al. 2021; Li and Zhang 2021).

The distance is found by bisection along lines from the record to records that the adversary owns: along a line numbers
change in proportion, and each category or missing cell flips at a place drawn once. A record that the model gets right
is moved towards records of other classes, until the label is wrong; one that it gets wrong towards records of its own
class, until the label is right, and its distance is negative. So the distance grows with the model's confidence in the
true label. The papers start from images and perturb by HopSkipJump; a line search needs far fewer queries, and
categories have no gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memaudit.attacks.lira import resolution_floor
from memaudit.common.arrays import Array, Array32, Codes, Floats, Indices, Mask
from memaudit.common.errors import AuditError

Label = Callable[[Array32], Codes]  # (query, feature) -> predicted class codes (query,)


@dataclass(frozen=True)
class Lines:
    """Lines from each target to records of the adversary, the same in every shadow context.

    x: (target, feature), NaN where missing; label: (target,) true classes; others, own: (target, direction, feature)
    ends, records of other classes and of the target's; flips: (target, direction, feature) place in [0, 1) where a cell
    flips that has no numbers between; flipped: (feature,) True for categories and codes of texts.
    """

    x: Floats
    label: Codes
    others: Floats
    own: Floats
    flips: Floats
    flipped: Mask

    def points(self, right: Mask, places: Floats) -> Array32:
        """Queries (target, direction, feature) at these places (target, direction) of the lines; right: (target,)."""
        ends = np.where(right[:, None, None], self.others, self.own)
        start = np.broadcast_to(self.x[:, None], ends.shape)
        after = np.where(self.flips < places[..., None], ends, start)
        between = start + places[..., None] * (ends - start)
        return np.where(self.flipped | np.isnan(between), after, between).astype(np.float32)


def ends(labels: Codes, of: int, directions: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Places of the adversary's records at the ends of a target's lines: of other classes, and of its own.

    labels: (record,) classes of the adversary's records; of: the target's. Each record serves once before any serves
    twice. Raises AuditError where all have the target's class; where none has, the second are those of other classes.
    """
    others, own = (np.flatnonzero((labels == of) == same) for same in (False, True))
    if not len(others):
        raise AuditError("boundary distance: the non-members are all of one class; take a split with more non-members")
    chosen = [np.resize(rng.permutation(side), directions) for side in (others, own if len(own) else others)]
    return chosen[0], chosen[1]


def queries(directions: int, steps: int) -> int:
    """Label queries for one record and context: the record itself, and a bisection along each line."""
    return 1 + directions * steps


def signed_distance(label: Label, lines: Lines, predicted: Codes, steps: int) -> Array:
    """Mean distance to the boundary of the true class as a share of the lines, (target,); negative where it is wrong.

    label: one call answers a step of all lines; predicted: (target,) classes predicted for the targets themselves. A
    line without a change of the label counts as almost 1.
    """
    right = predicted == lines.label
    low, high = np.zeros(lines.flips.shape[:2]), np.ones(lines.flips.shape[:2])
    for _ in range(steps):
        middle = (low + high) / 2
        asked = lines.points(right, middle)
        found = label(asked.reshape(-1, asked.shape[-1])).reshape(middle.shape)
        same = (found == lines.label[:, None]) == right[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.where(right, 1, -1) * ((low + high) / 2).mean(1)


def farthest(steps: int) -> float:
    """The distance of a record whose lines meet no boundary."""
    return 1 - 2.0 ** -(steps + 1)


def resolution(directions: int, steps: int) -> float:
    """Least deviation of a distance: that of rounding it to what the bisection resolves."""
    return resolution_floor(2.0**-steps / directions)
