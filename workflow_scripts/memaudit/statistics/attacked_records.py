"""Attacks on named records: restriction to some of them, performance, comparison with another setting."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.common.arrays import Array, Mask
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics.attack_performance import judge_attack, judge_options, rows
from memaudit.statistics.paired_differences import differences

Names = NDArray[np.str_]

STUDY = "attacks"


class Attacked(NamedTuple):
    """An attack on the records that the contexts are drawn from.

    records: (record,) ids; attack: signals (model, record) and calibration; membership: (model, record), drawn by
    `scheme`; groups: (record,) privacy units, whose records are in together and are resampled together.
    """

    records: Names
    attack: Attack
    membership: Mask
    groups: NDArray[np.integer]
    scheme: Scheme = COLUMNS

    def on(self, records: Names) -> "Attacked":
        """The attack on those of `records` that it has, in their order."""
        place = {record: i for i, record in enumerate(self.records)}
        chosen = np.array([place[record] for record in records if record in place], dtype=int)
        attack = self.attack._replace(signals=self.attack.signals[:, chosen])
        return Attacked(self.records[chosen], attack, self.membership[:, chosen], self.groups[chosen], self.scheme)

    def first(self, contexts: int) -> "Attacked":
        """The attack with the first shadow contexts only."""
        attack = self.attack._replace(signals=self.attack.signals[:contexts])
        return self._replace(attack=attack, membership=self.membership[:contexts])

    def scores(self) -> Array:
        """Calibrated scores (model, record): higher = more likely a member."""
        return calibrate(self.attack.signals, self.membership, self.attack.method, **self.attack.options)


def judged(
    attacked: Attacked, keys: Mapping[str, Any], settings: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Tidy rows of `judge_attack`; none without records. settings: of `judge_options`."""
    if len(attacked.records):
        options = {"groups": attacked.groups, "scheme": attacked.scheme, **judge_options(settings)}
        found = judge_attack(attacked.attack, attacked.membership, rng=rng, **options)
        yield from rows(STUDY, keys, found)


def compared(
    changed: Attacked,
    usual: Attacked,
    keys: Mapping[str, Any],
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> Iterator[dict[str, Any]]:
    """Tidy rows of `differences` on the common records with equally many contexts; none without records."""
    contexts = min(len(changed.membership), len(usual.membership))
    changed = changed.on(usual.records).first(contexts)
    usual = usual.on(changed.records).first(contexts)
    if len(usual.records):
        options = {"fprs": settings["fpr"], "groups": usual.groups, "replicates": settings["replicates"]}
        pairs = ((one.scores(), one.membership) for one in (changed, usual))
        yield from rows(STUDY, keys, differences(*pairs, rng=rng, **options))
