"""Tidy rows of an audit's scores: the strongest one, what it means for one deployment, and all of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.registry import threat
from memaudit.common import seeds, tidy
from memaudit.statistics import roc
from memaudit.statistics.accusation_precision import Accusations, precision_estimates, predictive_level
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.randomisation_tests import FEWEST_DRAWS
from memaudit.statistics.strongest_score import (
    AUC,
    TPR,
    Panel,
    choose,
    composite,
    composite_of,
    judge_alike,
    judge_each,
    judge_strongest,
    shares,
)
from memaudit.studies.audit.audit_attacks import compared, permitted
from memaudit.studies.audit.score_pictures import picture_rows

STUDY = "audit"
STRONGEST = "strongest"
STRICTER = 0.1  # of the nominal false positive rate: the precision is stated there, too
Row = dict[str, Any]


def judged(
    panel: Panel, chosen: Mapping[str, Sequence[str]], keys: Mapping[str, str], params: Any, *, control: bool
) -> tuple[list[Row], str]:
    """Tidy rows of the strongest score and of every score of a panel, and the score chosen for most contexts by AUC.

    chosen: of `choose`; keys: dataset, model and records; params: of the job, with `seed`, `attacks` and `audit`;
    control: whether the negative control is judged by the same redraws, where each unit has the membership of another
    one (records "companions").
    """
    settings, audit = params.attacks, params.audit
    rng = seeds.generator(params.seed, STUDY, *keys.values(), STRONGEST)
    options = {**metric_options(params), "rng": rng}
    panels = [panel, panel.exchanged(rng)] if control else [panel]
    choices = [chosen, *(choose(one, audit["fpr"]) for one in panels[1:])]
    best, *exchanged = judge_alike(panels, choices, permutations=settings["permutations"], **options)
    named = _named(keys, audit)
    found = [*attack_rows(named, best, 1, audit), *choice_rows(chosen, named, panel)]
    for one in exchanged:
        found += attack_rows(named | {"records": "companions"}, one, 1, audit)
    accused = accusations(panel, chosen, _strict(audit), rng)
    found += _deployment_rows(accused, best, named, audit)
    uneven = accused[audit["fpr"]].above_twice_nominal(audit["fpr"], rng, settings["replicates"], panel.groups)
    found += rows(STUDY, named, [uneven])
    found += picture_rows(panel, chosen, named, params)
    # The case that compares models has this score, with a randomisation null.
    every = {compared(audit["threats"], numbers) for numbers in (False, True)}
    known = every & panel.attacks.keys() if keys["records"] == "members" else set()
    for name, estimates in judge_each(panel, panel.attacks.keys() - known, **options).items():
        of_score = {**keys, "threat": threat(name), "attack": name, "poison": 0}
        found += attack_rows(of_score, estimates, 1, audit)
    most_chosen = next(iter(shares(chosen[AUC])))
    print(f"{tidy.setting(named)}: AUC {best[0].estimate:.3f}, {most_chosen} for most contexts", flush=True)
    return found, most_chosen


def accusations(
    panel: Panel, chosen: Mapping[str, Sequence[str]], fprs: Sequence[float], rng: np.random.Generator
) -> dict[float, Accusations]:
    """Who is accused by the score chosen by TPR, at each false positive rate; chosen: of `choose`."""
    scores = composite(panel, chosen[TPR])
    return {fpr: Accusations.at(scores, panel.membership, fpr, rng) for fpr in fprs}


def as_attack(panel: Panel, fpr: float) -> Attack:
    """The strongest score by AUC as one attack: redraws of the membership matrix keep the choice.

    Its signals stand for the panel's own and are not read.
    """
    names = choose(panel, fpr)[AUC]
    return Attack(np.zeros(panel.membership.shape), lambda _, membership: composite_of(panel, names, membership))


def exchanged_control(panel: Panel, fpr: float, *, rng: np.random.Generator, **options: Any) -> list[Estimate]:
    """AUC and TPRs of the strongest score where each unit has the membership of another one: the negative control.

    The choice is made anew, as for the panel's own memberships; with the fewest redraws that can reject, to save time.
    fpr: at which the score of accusations is chosen; options: fprs and replicates of `judge_strongest`.
    """
    control = panel.exchanged(rng)
    return judge_strongest(control, choose(control, fpr), rng=rng, permutations=FEWEST_DRAWS, **options)


def attack_rows(
    keys: Mapping[str, Any], estimates: Sequence[Estimate], queries: float, audit: Mapping[str, Any]
) -> Iterator[Row]:
    """Tidy rows of an attack's AUC and TPRs, with the precision of its positive predictions at each base rate."""
    yield from rows(STUDY, keys, estimates)
    yield tidy.row(STUDY, keys, "queries", queries, unit="queries", n=estimates[0].n)
    for base_rate, estimate in precision_estimates(estimates, audit["fpr"], audit["base_rates"]):
        yield from rows(STUDY, {**keys, "base rate": base_rate}, [estimate])


def choice_rows(chosen: Mapping[str, Sequence[str]], keys: Mapping[str, Any], panel: Panel) -> Iterator[Row]:
    """Share of the folds of contexts for which each score was chosen, by criterion."""
    for criterion, names in chosen.items():
        for name, share in shares(names).items():
            yield tidy.row(
                STUDY, {**keys, "criterion": criterion, "score": name}, "chosen", share, n=len(panel.membership)
            )


def _deployment_rows(
    accused: Mapping[float, Accusations],
    estimates: Sequence[Estimate],
    keys: Mapping[str, Any],
    audit: Mapping[str, Any],
) -> Iterator[Row]:
    """Mean precision with its interval, and that of one context with its predictive range, by FPR and base rate.

    None at an FPR of less than one of all non-members.
    """
    resolved = {fpr: one for fpr, one in accused.items() if roc.resolved(fpr, one.member)}
    for fpr, accusations in resolved.items():
        for base_rate, estimate in precision_estimates(estimates, fpr, audit["base_rates"]):
            of_rate = {**keys, "fpr": fpr, "base rate": base_rate}
            named = [estimate, accusations.in_one_context(base_rate)]
            for metric, one in zip(("mean precision", "precision in one context"), named, strict=True):
                facts = {"low": one.low, "high": one.high, "null": one.null, "n": one.n, "method": one.method}
                yield tidy.row(STUDY, of_rate, metric, one.estimate, **facts)
            level = predictive_level(named[1].n)
            yield tidy.row(STUDY, of_rate, "predictive level", level, unit="probability", n=named[1].n)


def _named(keys: Mapping[str, str], audit: Mapping[str, Any]) -> dict[str, Any]:
    return {**keys, "threat": f"{permitted(audit['threats'])} passive", "attack": STRONGEST, "poison": 0}


def _strict(audit: Mapping[str, Any]) -> list[float]:
    return [audit["fpr"], float(f"{STRICTER * audit['fpr']:g}")]


def metric_options(params: Any) -> dict[str, Any]:
    """False positive rates and bootstrap replicates of the metrics, options of `judge_strongest`."""
    fprs = sorted({*params.attacks["fpr"], *_strict(params.audit)}, reverse=True)
    return {"fprs": fprs, "replicates": params.attacks["replicates"]}
