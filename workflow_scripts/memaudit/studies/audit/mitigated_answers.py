"""Strongest permitted attack on each mitigation: all scores of the answers that it leaves, chosen anew.

The adversary knows the mitigation: the shadow contexts have it, too, and the score is chosen among all scores of their
answers, on other contexts than report it (`statistics.strongest_score`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import softmax

from memaudit.attacks.attack_entry import LABELS, Attack
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import REGISTRY
from memaudit.attacks.rounded_signal import rounded_confidence
from memaudit.attacks.score_matrices import attackable, labels
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import Estimate, judge
from memaudit.statistics.chosen_attacks import attacks_on_labels
from memaudit.statistics.paired_differences import differences
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, composite, shares
from memaudit.studies.audit.audit_attacks import by_persons, candidates

CALIBRATED = ("lira", "lira_shrunk")  # methods whose deviations have a floor for discrete signals
Candidates = Callable[[xr.Dataset, xr.Dataset], Mapping[str, Attack]]


class Mitigated(NamedTuple):
    """The strongest scores of the answers under one mitigation.

    targets: (target,) ids of records, or units where persons are accused; scores: by criterion (`AUC`, `TPR`), (model,
    target); membership: (model, target); groups: (target,) targets that are in together; chosen: by criterion, the
    score of each fold of contexts.
    """

    targets: np.ndarray
    scores: Mapping[str, Array]
    membership: Mask
    groups: Codes
    chosen: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, panel: Panel, targets: np.ndarray, chosen: Mapping[str, Sequence[str]]) -> "Mitigated":
        """The scores that were chosen from a panel; targets: ids of its targets; chosen: of `choose`."""
        scores = {criterion: composite(panel, names) for criterion, names in chosen.items()}
        return cls(targets, scores, panel.membership, panel.groups, chosen)

    def on(self, targets: np.ndarray, contexts: int) -> "Mitigated":
        """The same scores of those of the targets that it has, in their order, in the first contexts."""
        place = {target: column for column, target in enumerate(self.targets)}
        columns = np.array([place[target] for target in targets if target in place], dtype=int)
        scores = {criterion: made[:contexts, columns] for criterion, made in self.scores.items()}
        membership = self.membership[:contexts, columns]
        return Mitigated(self.targets[columns], scores, membership, self.groups[columns], self.chosen)

    def most_chosen(self) -> tuple[str, float]:
        """The score that was chosen by AUC for most contexts, and the share of the folds."""
        return next(iter(shares(self.chosen[AUC]).items()))

    def estimates(self, **options: Any) -> list[Estimate]:
        """AUC of the score chosen by AUC, TPRs of that chosen by TPR; options: fprs, rng, replicates of `judge`."""
        by = {one: judge(self.scores[one], self.membership, groups=self.groups, **options) for one in (AUC, TPR)}
        return [by[AUC][0], *by[TPR][1:]]


def strongest(grid: xr.Dataset, attacks_on: Candidates, fpr: float) -> Mitigated:
    """The strongest score of the answers in the contexts of one mitigation; by person where one has several records.

    grid: score matrix of one variant; attacks_on: the permitted attacks from the score matrices of the attacked records
    and of the population; fpr: at which the score of accusations is chosen. Raises AuditError as the scores do.
    """
    members = grid.isel(record=np.isin(grid.record.values, attackable(grid)))
    attacks = attacks_on(members, grid.isel(record=~grid.member.values))
    panel, targets = _panel(attacks, members, by_persons(grid))
    return Mitigated.of(panel, targets, choose(panel, fpr))


def against_many_queries(near: xr.Dataset, usual: xr.Dataset, settings: Mapping[str, Any], fpr: float) -> Mitigated:
    """The strongest attack on some records by an adversary who reads labels alone and asks for many near a record.

    near: score matrix of labels near the records; usual: that of the contexts, which tells whether persons are accused;
    settings: `scale` and `count` of noisy copies; fpr: at which the score of accusations is chosen.
    """
    panel, targets = _panel(attacks_on_labels(near, settings), near, by_persons(usual))
    return Mitigated.of(panel, targets, choose(panel, fpr))


def passive(threats: Collection[str], rmia: Mapping[str, float]) -> Candidates:
    """Every permitted score of the answers."""
    return lambda queried, population: candidates(queried, population, threats, rmia)


def rounded(threats: Collection[str], rmia: Mapping[str, float], digits: int) -> Candidates:
    """Every permitted score of probabilities that are rounded; LiRA's deviations have the resolution as floor."""

    def attacks_on(queried: xr.Dataset, population: xr.Dataset) -> dict[str, Attack]:
        coarse = (one.assign(logits=_rounded(one, digits)) for one in (queried, population))
        made = candidates(*coarse, threats, rmia)
        own = np.take_along_axis(_probabilities(queried), labels(queried)[..., None], axis=-1)[..., 0]
        steps = rounded_confidence(own, digits)
        for name, attack in made.items():
            if attack.method in CALIBRATED and REGISTRY[name].reads != LABELS:
                options = {**attack.options, "floor": resolution_floor(1)}
                made[name] = attack._replace(signals=steps, options=options)
        return made

    return attacks_on


def gains(changed: Mitigated, usual: Mitigated, fprs: Sequence[float], **options: Any) -> list[Estimate]:
    """Differences of AUC and TPRs, mitigated less usual, on the common targets in equally many contexts.

    options: rng and replicates of `paired_differences.differences`. Raises AuditError without a common target.
    """
    contexts = min(len(changed.membership), len(usual.membership))
    changed = changed.on(usual.targets, contexts)
    usual = usual.on(changed.targets, contexts)
    if not len(usual.targets):
        raise AuditError("audit: a mitigation's answers have none of the targets of the answers without it")
    by = {}
    for criterion in (AUC, TPR):
        pairs = ((one.scores[criterion], one.membership) for one in (changed, usual))
        by[criterion] = differences(*pairs, fprs=fprs, groups=usual.groups, **options)
    return [by[AUC][0], *by[TPR][1:]]


def _panel(attacks: Mapping[str, Attack], queried: xr.Dataset, are_persons: bool) -> tuple[Panel, np.ndarray]:
    """The attacks on queried records, judged by record or by privacy unit, and the ids of these targets."""
    facts = attacks, queried.design.values, queried.unit.values, Scheme.of(queried.attrs)
    if are_persons:
        return Panel.of_units(*facts), np.unique(queried.unit.values)
    return Panel.of_records(*facts), queried.record.values


def _probabilities(grid: xr.Dataset) -> Array:
    return softmax(grid.logits.values.astype(float), axis=-1)


def _rounded(grid: xr.Dataset, digits: int) -> tuple[Sequence[str], Array]:
    """Logarithms of the rounded probabilities, clipped to half of their resolution."""
    half = 10.0**-digits / 2
    return grid.logits.dims, np.log(np.clip(np.round(_probabilities(grid), digits), half, 1 - half))
