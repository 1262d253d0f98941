"""Four threat models (TabPATE, Section 3, Appendix A.1, Table 4): their attacks, and how those are compared.

An adversary reads labels alone or probabilities, and leaves the context as it is (passive) or adds records to it
(active). All of them calibrate with shadow sets; the threshold attacks are the baselines (Table 7).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit import tidy
from memaudit.arrays import Array, Codes, Mask
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import Attack, attack, is_active, threat
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import ROC_FPRS, Estimate, curve_rows, judge_attack, roc_band, rows
from memaudit.statistics.paired_differences import differences

STUDY = "attacks"


class Case(NamedTuple):
    """One attack on one grid.

    keys: of its results, `attack` last but one and `poison` last; attack: signals (model, record) and calibration;
    design: (model, record); groups: (record,) records that are resampled together; queries: of a target on a model.
    """

    keys: Mapping[str, Any]
    attack: Attack
    design: Mask
    groups: Codes
    queries: float = 1.0

    @property
    def name(self) -> str:
        """The attack's name."""
        return self.keys["attack"]

    def scores(self) -> Array:
        """Calibrated scores (model, record): higher = more likely a member."""
        values, method, options = self.attack
        return calibrate(values, self.design, method, **options)


def case(
    keys: Mapping[str, Any], name: str, made: Attack, design: Mask, groups: Codes, poison: int = 0, queries: float = 1
) -> Case:
    """A case whose keys gain the threat model, the attack's name and the copies that it adds to the context."""
    return Case({**keys, "threat": threat(name), "attack": name, "poison": poison}, made, design, groups, queries)


def ratio(confidence: Array) -> Attack:
    """LiRA on the logit-scaled confidence in the true label, (model, record), with or without poisons."""
    return attack("lira", confidence)


def stability(stable: Array, count: int) -> Attack:
    """LiRA on the share of `count` noisy copies that keep the answer, (model, record)."""
    return attack("perturbation", stable, floor=resolution_floor(1 / count))


def resistance(copies: NDArray[np.integer]) -> Attack:
    """LiRA on the fewest mislabelled copies that make the answer wrong, (model, record)."""
    return attack("brainwash", copies.astype(np.float64), floor=resolution_floor(1))


def against(
    first: Case, second: Case, settings: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the first case's AUC and TPRs less the second's, on the same targets and sets.

    What a hard model or an exposed record does to both cancels. Raises ValueError for cases of different designs.
    """
    if not np.array_equal(first.design, second.design):
        raise ValueError("a paired difference needs two attacks on the same targets and sets")
    pairs = ((case.scores(), case.design) for case in (first, second))
    options = {"fprs": settings["fpr"], "groups": first.groups, "replicates": settings["replicates"]}
    yield from rows(
        STUDY, {**first.keys, "attack": f"{first.name} - {second.name}"}, differences(*pairs, rng=rng, **options)
    )


def pairs(cases: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Cases to compare: each active attack with LiRA on the same targets, and LiRA on all members with the loss."""
    found = {(case.keys["arm"], case.keys["records"], case.name): case for case in cases}
    active = [(case, found[case.keys["arm"], "targets", "lira"]) for case in cases if is_active(case.name)]
    return [*active, (found["main", "members", "lira"], found["main", "members", "loss"])]


def has_curve(case: Case, cases: Sequence[Case]) -> bool:
    """Whether a case stands for its threat model in a figure: LiRA on all members, poisoning at its largest budget."""
    if case.name == "lira":
        return case.keys["records"] == "members"
    most = max(other.keys["poison"] for other in cases)
    return case.name in ("perturbation", "brainwash") or (case.name == "lira poisoned" and case.keys["poison"] == most)


def judged(case: Case, settings: Mapping[str, Any], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Tidy rows of a case; settings: fpr, replicates and permutations of `judge_attack`."""
    asked = {"fprs": settings["fpr"], "replicates": settings["replicates"], "permutations": settings["permutations"]}
    estimates = judge_attack(case.attack, case.design, rng=rng, groups=case.groups, **asked)
    print(f"{tidy.setting(case.keys)}: AUC {estimates[0].estimate:.3f}", flush=True)
    yield from rows(STUDY, case.keys, estimates)


def curve(case: Case, rng: np.random.Generator, replicates: int) -> Iterator[dict[str, Any]]:
    """Tidy rows of a case's ROC curve with its 95 % band at `ROC_FPRS`."""
    band = roc_band(case.scores(), case.design, ROC_FPRS, rng=rng, groups=case.groups, replicates=replicates)
    keys = {key: case.keys[key] for key in ("dataset", "arm", "attack", "poison")}
    return curve_rows(STUDY, keys, ROC_FPRS, band, case.design, f"two-way bootstrap, {replicates} replicates")


def searches(
    copies: Codes,
    scanned: Codes,
    monotone: Codes,
    most: int,
    groups: Codes,
    *,
    rng: np.random.Generator,
    replicates: int,
) -> list[Estimate]:
    """What Brainwash's searches found, and whether bisection is allowed: it supposes that a wrong answer stays wrong.

    copies: (model, record) fewest copies found, most + 1: censored; scanned: the same from asking about every number,
    -1 where that was not done; monotone: 1 where then no further copy turned the answer back, 0 where one did. Of
    nothing but hits, or none, a bootstrap has no interval: Wilson's then counts one trial for each set, or unit if
    these are fewer.
    """
    weights = bootstrap.two_way_weights(*copies.shape, replicates, rng, groups)
    method = f"two-way bootstrap, {replicates} replicates"
    facts = []
    for metric, hits in {"censored": copies > most, "already wrong": copies == 0}.items():
        if hits.all() or not hits.any():
            fewest = min(len(copies), len(np.unique(groups)))
            ends, made = intervals.wilson(float(hits.mean()), fewest), f"Wilson, as of {fewest} sets or units"
        else:
            # The rate wants (record, model).
            ends, made = bootstrap.interval(bootstrap.rate(hits.T, np.ones_like(hits.T), weights)), method
        facts.append(Estimate(metric, float(hits.mean()), *ends, hits.size, made, np.nan))
    checked = scanned >= 0
    checks = {"monotone": monotone[checked] > 0, "bisection agrees": (copies == scanned)[checked]}
    return facts + [_checks(metric, passed) for metric, passed in checks.items() if checked.any()]


def _checks(metric: str, passed: Mask) -> Estimate:
    """Share of checks that were passed. Of nothing but passes a bootstrap has no interval; Wilson's has one.

    The checked cells are drawn at random and so few that they share hardly a model or a record.
    """
    ends = intervals.wilson(float(passed.mean()), passed.size)
    return Estimate(metric, float(passed.mean()), *ends, passed.size, "Wilson, checks independent", np.nan)
