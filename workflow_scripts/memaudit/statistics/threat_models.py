"""Four threat models (TabPATE, Section 3, Appendix A.1, Table 4): their attacks and the comparisons between them.

An adversary observes labels or probabilities, and leaves the context unchanged (passive) or adds records to it
(active). All attacks calibrate with shadow contexts, except the threshold attacks, which are the baselines (Table 7).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import attack, is_active, threat
from memaudit.attacks.score_matrices import confidence, stable
from memaudit.common import tidy
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics import bootstrap, intervals
from memaudit.statistics.attack_performance import (
    ROC_FPRS,
    Estimate,
    curve_rows,
    judge_attack,
    judge_options,
    roc_band,
    rows,
)
from memaudit.statistics.paired_differences import differences

STUDY = "attacks"
THRESHOLDS = ("loss", "prediction gap", "confidence", "entropy", "correctness", "modified entropy")  # of Table 7


class Case(NamedTuple):
    """One attack on one score matrix.

    keys: of its results, `attack` last but one and `poison` last; attack: signals (model, record) and calibration;
    membership: (model, record), drawn by `scheme`; groups: (record,) privacy units, whose records are in together and
    are resampled together; queries: number of queries per target and model.
    """

    keys: Mapping[str, Any]
    attack: Attack
    membership: Mask
    groups: Codes
    queries: float = 1.0
    scheme: Scheme = COLUMNS

    @property
    def name(self) -> str:
        """The attack's name."""
        return self.keys["attack"]

    def scores(self) -> Array:
        """Calibrated scores (model, record): higher = more likely a member."""
        values, method, options = self.attack
        return calibrate(values, self.membership, method, **options)


def case(
    keys: Mapping[str, Any],
    name: str,
    made: Attack,
    grid: xr.Dataset,
    poison: int = 0,
    queries: float = 1,
) -> Case:
    """A case whose keys gain the threat model, the attack's name and the number of poisons added to the context.

    grid: score matrix with the membership `design` and the privacy units of its records.
    """
    keys = {**keys, "threat": threat(name), "attack": name, "poison": poison}
    return Case(keys, made, grid.design.values, grid.unit.values, queries, Scheme.of(grid.attrs))


def ratio(confidence: Array) -> Attack:
    """LiRA on the logit-scaled confidence in the true label, (model, record), with or without poisons."""
    return attack("lira", confidence)


def label_robustness(kept: Array, count: int) -> Attack:
    """LiRA on the label robustness: share of `count` noisy copies that keep the predicted label, (model, record)."""
    return attack("perturbation", kept, floor=resolution_floor(1 / count))


def fewest_poisons(copies: NDArray[np.integer]) -> Attack:
    """LiRA on the minimum number of mislabelled poisons that change the predicted label, (model, record)."""
    return attack("brainwash", copies.astype(np.float64), floor=resolution_floor(1))


def perturbation_case(keys: Mapping[str, Any], grid: xr.Dataset, settings: Mapping[str, Any]) -> Case:
    """The label-only attack with noisy copies on the targets of a perturbed score matrix.

    settings: `scale` and `count` of the copies; the record itself is queried, too.
    """
    scale, count = settings["scale"], settings["count"]
    made = label_robustness(stable(grid, scale, count), count)
    return case(keys, "perturbation", made, grid, queries=count + 1)


def poisoning_cases(keys: Mapping[str, Any], grid: xr.Dataset) -> Iterator[Case]:
    """LiRA at each number of mislabelled copies in the context, 0 included, and Brainwash, on the same targets."""
    for poisons in map(int, grid.budget.values):
        made = ratio(confidence(grid.sel(budget=poisons)))
        yield case(keys, "lira poisoned" if poisons else "lira", made, grid, poison=poisons)
    made = fewest_poisons(grid.copies.values)
    yield case(keys, "brainwash", made, grid, queries=float(grid.passes.mean()))


def lira_of(grid: xr.Dataset) -> Attack:
    """LiRA on the answers of a score matrix."""
    return ratio(confidence(grid))


def placebo(
    keys: Mapping[str, Any],
    grid: xr.Dataset,
    rng: np.random.Generator,
    name: str = "lira",
    attack_on: Callable[[xr.Dataset], Attack] = lira_of,
) -> Case:
    """An attack on records in no context, with a membership matrix drawn at random: a negative control.

    name: of the attack in the registry; attack_on: makes it on the score matrix of some records.
    """
    others = grid.isel(record=~grid.member.values)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    drawn = membership_matrices.balanced(grid.sizes["model"], units.max() + 1, rng)
    random = others.assign(design=(("model", "record"), membership_matrices.expand(drawn, units)))
    # Non-members have whole columns, in one block.
    return case({**keys, "records": "placebo"}, name, attack_on(others), random.drop_attrs(deep=False))


def negative_controls(keys: Mapping[str, Any], grid: xr.Dataset, rng: np.random.Generator) -> Iterator[Case]:
    """LiRA with wrong memberships: the `placebo`, and members whose membership is that of another unit.

    Records "companions": each unit of the members has the column of the next one in a random cycle; it detects that
    records shift each other's signals.
    """
    yield placebo(keys, grid, rng)
    members = grid.isel(record=grid.member.values)
    exchanged = membership_matrices.of_next_unit(members.design.values, members.unit.values, rng)
    companions = members.assign(design=(("model", "record"), exchanged))
    yield case({**keys, "records": "companions"}, "lira", lira_of(members), companions)


def against(
    first: Case, second: Case, settings: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the first case's AUC and TPRs minus the second's, on the same targets and shadow contexts.

    Common effects of a model or a record cancel. The key `attack` reads "first - second"; of one
    attack on two arms, the keys `arm` and `model` do. Raises ValueError
    where the membership matrices differ.
    """
    if not np.array_equal(first.membership, second.membership):
        raise ValueError("a paired difference needs two attacks on the same targets and shadow contexts")
    pairs = ((case.scores(), case.membership) for case in (first, second))
    options = {"fprs": settings["fpr"], "groups": first.groups, "replicates": settings["replicates"]}
    between = ("attack",) if first.name != second.name else ("arm", "model")
    named = {key: f"{first.keys[key]} - {second.keys[key]}" for key in between}
    yield from rows(STUDY, {**first.keys, **named}, differences(*pairs, rng=rng, **options))


def pairs(cases: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Cases to compare: each active attack with LiRA on the same targets, LiRA on all members with each threshold, and
    Brainwash on the same records as a table and as text."""
    found = {(case.keys["arm"], case.keys["records"], case.name): case for case in cases}
    active = [(case, found[case.keys["arm"], "targets", "lira"]) for case in cases if is_active(case.name)]
    baselines = [(found["main", "members", "lira"], found["main", "members", name]) for name in THRESHOLDS]
    forms = [found.get((arm, "targets", "brainwash")) for arm in ("tabular", "text")]
    same = None not in forms and np.array_equal(*(case.membership for case in forms))
    return [*active, *baselines, *([tuple(forms)] if same else [])]


def has_curve(case: Case, cases: Sequence[Case]) -> bool:
    """Whether a case stands for its threat model in a figure: LiRA on all members, poisoning at its largest budget."""
    if case.name == "lira":
        return case.keys["records"] == "members"
    most = max(other.keys["poison"] for other in cases)
    return case.name in ("perturbation", "brainwash") or (case.name == "lira poisoned" and case.keys["poison"] == most)


def estimates(case: Case, settings: Mapping[str, Any], rng: np.random.Generator) -> list[Estimate]:
    """AUC and TPRs of a case by `judge_attack`, reported on the job's log; settings: of `judge_options`."""
    options = {"groups": case.groups, "scheme": case.scheme, **judge_options(settings)}
    found = judge_attack(case.attack, case.membership, rng=rng, **options)
    print(f"{tidy.setting(case.keys)}: AUC {found[0].estimate:.3f}", flush=True)
    return found


def judged(case: Case, settings: Mapping[str, Any], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Tidy rows of `estimates`."""
    return rows(STUDY, case.keys, estimates(case, settings, rng))


def curve(case: Case, rng: np.random.Generator, replicates: int) -> Iterator[dict[str, Any]]:
    """Tidy rows of a case's ROC curve with its 95 % band at `ROC_FPRS`."""
    band = roc_band(case.scores(), case.membership, ROC_FPRS, rng=rng, groups=case.groups, replicates=replicates)
    keys = {key: case.keys[key] for key in ("dataset", "arm", "attack", "poison")}
    return curve_rows(STUDY, keys, ROC_FPRS, band, case.membership, f"two-way bootstrap, {replicates} replicates")


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
    """Censoring rates of Brainwash's searches, and checks of monotonicity, which bisection assumes.

    copies: (model, record) minimum number of poisons, most + 1: censored; scanned: the same from queries at every
    number, -1 where not scanned; monotone: 1 where no further poison reverted the label, 0 where one did. A bootstrap
    has no interval where all or none are hits: that of Clopper and Pearson then counts one trial per context, or per
    unit if these are fewer.
    """
    weights = bootstrap.two_way_weights(*copies.shape, replicates, rng, groups)
    method = f"two-way bootstrap, {replicates} replicates"
    facts = []
    for metric, hits in {"censored": copies > most, "already wrong": copies == 0}.items():
        if hits.all() or not hits.any():
            fewest = min(len(copies), len(np.unique(groups)))
            ends = intervals.clopper_pearson(fewest * float(hits.mean()), fewest)
            made = f"Clopper-Pearson, as of {fewest} sets or units"
        else:
            # bootstrap.rate takes (record, model).
            rates = bootstrap.rate(hits.T, np.ones_like(hits.T), weights)
            ends, made = bootstrap.two_way_interval(rates, float(hits.mean()), weights, 0, 1), method
        facts.append(Estimate(metric, float(hits.mean()), *ends, hits.size, made, np.nan))
    checked = scanned >= 0
    checks = {"monotone": monotone[checked] > 0, "bisection agrees": (copies == scanned)[checked]}
    return facts + [_checks(metric, passed) for metric, passed in checks.items() if checked.any()]


def _checks(metric: str, passed: Mask) -> Estimate:
    """Share of passed checks with Clopper and Pearson's interval, since a bootstrap has none where all pass.

    The checked (model, record) entries are few and random, so that they hardly share a model or a record.
    """
    ends = intervals.clopper_pearson(float(passed.sum()), passed.size)
    return Estimate(metric, float(passed.mean()), *ends, passed.size, "Clopper-Pearson, checks independent", np.nan)
