"""Attacks on the contexts of one setting or mitigation: restriction to records, comparison with another setting."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Mask
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.registry import Attack
from memaudit.statistics.attack_performance import judge_attack, rows
from memaudit.statistics.paired_differences import differences

Names = NDArray[np.str_]

STUDY = "attacks"
VARIED = ("context", "features", "order", "copies", "population", "shares", "bags", "layer")


class Attacked(NamedTuple):
    """An attack on the records that the contexts are drawn from.

    records: (record,) ids; attack: signals (model, record) and calibration; design: (model, record) membership matrix;
    groups: (record,) records that are resampled together.
    """

    records: Names
    attack: Attack
    design: Mask
    groups: NDArray[np.integer]

    def on(self, records: Names) -> "Attacked":
        """The attack on those of `records` that it has, in their order."""
        place = {record: i for i, record in enumerate(self.records)}
        chosen = np.array([place[record] for record in records if record in place], dtype=int)
        attack = self.attack._replace(signals=self.attack.signals[:, chosen])
        return Attacked(self.records[chosen], attack, self.design[:, chosen], self.groups[chosen])

    def first(self, sets: int) -> "Attacked":
        """The attack with the first shadow contexts only."""
        attack = self.attack._replace(signals=self.attack.signals[:sets])
        return self._replace(attack=attack, design=self.design[:sets])

    def scores(self) -> Array:
        """Calibrated scores (model, record): higher = more likely a member."""
        return calibrate(self.attack.signals, self.design, self.attack.method, **self.attack.options)


def judged(
    attacked: Attacked, keys: Mapping[str, Any], settings: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Tidy rows of `judge_attack`; none without records. settings: fpr, replicates and permutations."""
    if len(attacked.records):
        asked = {name: settings[name] for name in ("replicates", "permutations")} | {"fprs": settings["fpr"]}
        found = judge_attack(attacked.attack, attacked.design, rng=rng, groups=attacked.groups, **asked)
        yield from rows(STUDY, keys, found)


def compared(
    changed: Attacked,
    usual: Attacked,
    keys: Mapping[str, Any],
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> Iterator[dict[str, Any]]:
    """Tidy rows of `differences` on the common records with equally many contexts; none without records."""
    sets = min(len(changed.design), len(usual.design))
    changed = changed.on(usual.records).first(sets)
    usual = usual.on(changed.records).first(sets)
    if len(usual.records):
        asked = {"fprs": settings["fpr"], "groups": usual.groups, "replicates": settings["replicates"]}
        pairs = ((one.scores(), one.design) for one in (changed, usual))
        yield from rows(STUDY, keys, differences(*pairs, rng=rng, **asked))


def parsed(variant: str) -> dict[str, str]:
    """ "features 4 order 1" -> {"features": "4", "order": "1"}; "usual" -> {}."""
    return dict(re.findall(rf"({'|'.join(VARIED)}) (\S+)", variant))


def varies_only(variant: str, key: str, *others: str) -> bool:
    """Whether a variant differs from the usual contexts in this key and in no other keys than `others`."""
    return key in parsed(variant) and parsed(variant).keys() <= {key, *others}
