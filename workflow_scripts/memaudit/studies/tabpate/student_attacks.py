"""Results of attacks on PATE students: performance, lower bounds on epsilon, and differences from no privacy.

TabPATE, Section 5.3, Figure 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common import seeds, tidy
from memaudit.statistics import paired_differences, threat_models
from memaudit.statistics.attack_performance import ROC_FPRS, curve_rows, judge_attack, roc_band, rows
from memaudit.statistics.attacked_records import Attacked
from memaudit.statistics.epsilon_bounds import audit_pooled
from memaudit.studies.tabpate.student_utility import STUDY

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class AttackedCondition:
    """One attack on the PATE students of one condition and epsilon.

    keys: of its results, dataset, arm, epsilon, attack and records; attacked: scores on the shadow contexts; budgets:
    number of poison counts that Brainwash tries.
    """

    keys: Mapping[str, Any]
    attacked: Attacked
    budgets: int = 0

    def beside(self, conditions: Sequence["AttackedCondition"]) -> list["AttackedCondition"]:
        """The same attack on the same records without privacy, and for `as_published` also with PromptPATE at the same
        epsilon; none for a negative control or without privacy.
        """
        others = [{"arm": "non_private", "epsilon": "inf"}]
        others += [{"arm": "prompt_pate"}] if self.keys["arm"] == "as_published" else []
        same = [self.keys | other for other in others if self.keys | other != self.keys]
        return [other for other in conditions if other.keys in same and other.keys["records"] != "placebo"]


@dataclass(frozen=True)
class Judge:
    """Settings of the results: target FPRs, replicates, permutations, delta of the audit, and the seed of the run."""

    fpr: Sequence[float]
    replicates: int
    permutations: int
    delta: float
    seed: int

    def results(self, condition: AttackedCondition) -> Rows:
        """AUC and TPRs with their nulls; for Brainwash also the shares of its searches that ended without a count."""
        _, attack, membership, groups, scheme = condition.attacked
        options = {"groups": groups, "replicates": self.replicates}
        targets = {"fprs": self.fpr, "permutations": self.permutations, "scheme": scheme, "rng": self._rng(condition)}
        estimates = judge_attack(attack, membership, **targets, **options)
        print(f"{tidy.setting(condition.keys)}: AUC {estimates[0].estimate:.3f}", flush=True)
        yield from rows(STUDY, condition.keys, estimates)
        if condition.budgets:
            places, never = attack.signals.astype(int), np.full(membership.shape, -1)
            options["rng"] = self._rng(condition, "searches")
            searches = threat_models.searches(places, never, never, condition.budgets - 1, **options)
            yield from rows(STUDY, condition.keys, searches)

    def audit(self, condition: AttackedCondition) -> Rows:
        """Lower 95 % confidence bounds on epsilon at each FPR; a correct mechanism rarely has one above its epsilon."""
        scores, membership, groups = (
            condition.attacked.scores(),
            condition.attacked.membership,
            condition.attacked.groups,
        )
        for fpr in self.fpr:
            rng = self._rng(condition, "audit", fpr)
            point = audit_pooled("lira", scores, membership, fpr, self.delta, rng, groups)
            keys, common = condition.keys | {"fpr": f"{fpr:g}"}, {"n": point.cells, "method": point.method}
            bound = {"low": point.epsilon, "null": 0.0, "unit": "nats"}
            yield tidy.row(STUDY, keys, "epsilon lower bound", point.epsilon, **bound, **common)
            yield tidy.row(STUDY, keys, "audited tpr", point.tpr, low=point.tpr_low, null=fpr, **common)
            yield tidy.row(STUDY, keys, "audited fpr", point.fpr, high=point.fpr_high, null=fpr, **common)

    def curve(self, condition: AttackedCondition) -> Rows:
        """The ROC curve with its 95 % band at `ROC_FPRS`."""
        scores, membership, groups = (
            condition.attacked.scores(),
            condition.attacked.membership,
            condition.attacked.groups,
        )
        options = {"groups": groups, "replicates": self.replicates, "rng": self._rng(condition, "roc")}
        band = roc_band(scores, membership, ROC_FPRS, **options)
        method = f"two-way bootstrap, {self.replicates} replicates"
        return curve_rows(STUDY, condition.keys, ROC_FPRS, band, membership, method)

    def differences(self, condition: AttackedCondition, other: AttackedCondition) -> Rows:
        """AUC and TPRs minus those of another condition. Raises ValueError for other records or shadow contexts."""
        (_, _, membership, groups, _), (_, _, other_membership, *_) = condition.attacked, other.attacked
        if not np.array_equal(membership, other_membership):
            raise ValueError("a paired difference needs two attacks on the same records and shadow contexts")
        pairs = ((condition.attacked.scores(), membership), (other.attacked.scores(), other_membership))
        options = {"groups": groups, "replicates": self.replicates, "rng": self._rng(condition, "difference")}
        keys = condition.keys | {"arm": f"{condition.keys['arm']} - {other.keys['arm']}"}
        yield from rows(STUDY, keys, paired_differences.differences(*pairs, fprs=self.fpr, **options))

    def _rng(self, condition: AttackedCondition, *names: object) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, *condition.keys.values(), *names)
