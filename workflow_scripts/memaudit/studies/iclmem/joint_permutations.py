"""Permutations of all splits of a setting together, as many as one detection among all tests needs (ICLMEM, Table 3).

Membership is permuted within a split, and splits are independent. One permutation of each split is therefore a
permutation of the setting; S splits with B permutations each, and the true membership beside them, have (B + 1)^S.
Without memory the true membership of the setting is as likely as any of these, so that a random sample of them makes an
exact test (Lehmann and Romano 2005, section 15.2). A run need not be attacked under as many memberships as the
correction for multiple tests asks for. With fewer than about a hundred of its own, its true membership is so large a
part of the null that an effect is detected more rarely than its size lets expect.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Array
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.run_metrics import STUDY

Places = NDArray[np.intp]


def needed(tests: int) -> int:
    """Permutations with which a single one of so many tests can have a q-value of LEVEL (Benjamini and Hochberg)."""
    return math.ceil(round(tests / LEVEL, 6)) - 1


class JointPermutations:
    """Draws of one permutation for each split; those of the runs as they are, where these are enough.

    runs: a line each, with data set and split; permutations: of each run; tests: that are corrected together; times: as
    many as are needed. With no more than these a p-value at the level of a single detection hangs on the draw.
    """

    def __init__(self, runs: pd.DataFrame, permutations: int, tests: int, seed: int, times: int = 1):
        self.splits = list(zip(runs["dataset"], runs["split"].astype(int), strict=True))
        self.permutations, self.seed = permutations, seed
        self.drawn = needed(tests) > permutations
        self.count = times * (needed(tests) + 1) - 1 if self.drawn else permutations
        self._places: dict[tuple[str, int], Places] = {}

    def of_run(self, run: int, observed: float | np.floating, permuted: Array, count: int | None = None) -> Array:
        """Values (joint permutation,) of a run from those of its own permutations (permutation,) and its true one."""
        if not self.drawn:
            return permuted
        return np.append(observed, permuted)[self._places_of(*self.splits[run])[:count]]

    def smallest_p(self, splits: int) -> float:
        """The smallest p-value that so many splits can have: (B + 1)^S memberships, of which `count` are drawn."""
        return 1 / ((self.permutations + 1) ** splits if self.drawn else self.count + 1)

    def _places_of(self, dataset: str, split: int) -> Places:
        """Permutation of a split in each joint one: 0 is the true membership. All runs of a split share them."""
        if (dataset, split) not in self._places:
            rng = seeds.generator(self.seed, STUDY, dataset, "joint permutations", split)
            self._places[dataset, split] = rng.integers(0, self.permutations + 1, self.count)
        return self._places[dataset, split]


class SettingNulls:
    """Values under joint permutations, by setting; observed: (run,); permuted: (run, permutation)."""

    def __init__(self, joint: JointPermutations, observed: Array, permuted: Array, settings: Sequence[Places]):
        self.joint, self.observed, self.permuted, self.settings = joint, observed, permuted, settings

    def of(self, setting: int) -> Array:
        """Values (split, joint permutation) of the splits that did not diverge."""
        whole = [run for run in self.settings[setting] if not np.isnan(self.permuted[run]).any()]
        values = [self.joint.of_run(run, self.observed[run], self.permuted[run]) for run in whole]
        return np.array(values).reshape(len(whole), self.joint.count)

    def __iter__(self) -> Iterator[Array]:
        return map(self.of, range(len(self.settings)))
