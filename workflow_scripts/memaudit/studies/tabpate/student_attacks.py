"""Results of attacks on PATE students: performance, lower bounds on epsilon, and differences from no privacy.

TabPATE, Section 5.3, Figure 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit import seeds, tidy
from memaudit.statistics import threat_models
from memaudit.statistics.attack_performance import ROC_FPRS, curve_rows, judge_attack, roc_band, rows
from memaudit.statistics.context_attacks import Attacked
from memaudit.statistics.epsilon_bounds import audit_pooled
from memaudit.statistics.paired_differences import differences
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

    def beside(self, cases: Sequence["AttackedCondition"]) -> list["AttackedCondition"]:
        """The same attack on the same records without privacy; none for a negative control or without privacy."""
        same = self.keys | {"arm": "non_private", "epsilon": "inf"}
        return [case for case in cases if case.keys == same != self.keys and same["records"] != "placebo"]


@dataclass(frozen=True)
class Judge:
    """Settings of the results: target FPRs, replicates, permutations, delta of the audit, and the seed of the run."""

    fpr: Sequence[float]
    replicates: int
    permutations: int
    delta: float
    seed: int

    def results(self, case: AttackedCondition) -> Rows:
        """AUC and TPRs with their nulls; for Brainwash also how often no poison was needed, or all were too few."""
        attack, membership, groups = case.attacked[1:]
        options = {"groups": groups, "replicates": self.replicates}
        targets = {"fprs": self.fpr, "permutations": self.permutations, "rng": self._rng(case)}
        estimates = judge_attack(attack, membership, **targets, **options)
        print(f"{tidy.setting(case.keys)}: AUC {estimates[0].estimate:.3f}", flush=True)
        yield from rows(STUDY, case.keys, estimates)
        if case.budgets:
            places, never, rng = attack.signals.astype(int), np.full(membership.shape, -1), self._rng(case, "searches")
            searches = threat_models.searches(places, never, never, case.budgets - 1, rng=rng, **options)
            yield from rows(STUDY, case.keys, searches)

    def audit(self, case: AttackedCondition) -> Rows:
        """Lower bounds on epsilon at each FPR, at 95 % confidence: those of a correct mechanism rarely exceed it."""
        scores, membership, groups = case.attacked.scores(), case.attacked.design, case.attacked.groups
        for fpr in self.fpr:
            point = audit_pooled("lira", scores, membership, fpr, self.delta, self._rng(case, "audit", fpr), groups)
            keys, common = case.keys | {"fpr": f"{fpr:g}"}, {"n": point.cells, "method": point.method}
            bound = {"low": point.epsilon, "null": 0.0, "unit": "nats"}
            yield tidy.row(STUDY, keys, "epsilon lower bound", point.epsilon, **bound, **common)
            yield tidy.row(STUDY, keys, "audited tpr", point.tpr, low=point.tpr_low, null=fpr, **common)
            yield tidy.row(STUDY, keys, "audited fpr", point.fpr, high=point.fpr_high, null=fpr, **common)

    def curve(self, case: AttackedCondition) -> Rows:
        """The ROC curve with its 95 % band at `ROC_FPRS`."""
        scores, membership = case.attacked.scores(), case.attacked.design
        options = {"groups": case.attacked.groups, "replicates": self.replicates, "rng": self._rng(case, "roc")}
        band = roc_band(scores, membership, ROC_FPRS, **options)
        method = f"two-way bootstrap, {self.replicates} replicates"
        return curve_rows(STUDY, case.keys, ROC_FPRS, band, membership, method)

    def less(self, case: AttackedCondition, other: AttackedCondition) -> Rows:
        """AUC and TPRs minus those of another condition. Raises ValueError unless records and shadow sets are equal."""
        if not np.array_equal(case.attacked.design, other.attacked.design):
            raise ValueError("a paired difference needs two attacks on the same records and sets")
        pairs = ((one.attacked.scores(), one.attacked.design) for one in (case, other))
        options = {"groups": case.attacked.groups, "replicates": self.replicates, "rng": self._rng(case, "difference")}
        keys = case.keys | {"arm": f"{case.keys['arm']} - {other.keys['arm']}"}
        yield from rows(STUDY, keys, differences(*pairs, fprs=self.fpr, **options))

    def _rng(self, case: AttackedCondition, *names: object) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, *case.keys.values(), *names)
