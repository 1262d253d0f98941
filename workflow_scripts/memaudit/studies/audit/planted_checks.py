"""Checks of an audit by planted models: one that looks records up is found, and one without a leak is not."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from memaudit.common import seeds, tidy
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, judge_redrawn, judge_strongest
from memaudit.studies.audit.planted_effects import Answers
from memaudit.studies.audit.smallest_leak import Plantings

STUDY = "audit"
ENTRIES = 51_200  # of more, models without a leak are judged on some of the units
LOOKED_UP = 12_800  # of more, some of the units show a planted lookup
INNOCENTS = 5  # models without a leak: the check fails if most of them are found
Row = dict[str, Any]


def planted_rows(grid: xr.Dataset, params: Any, threads: int) -> Callable[[], list[Row]]:
    """A function that returns the tidy rows of the planted models, those of `smallest` if `audit` asks for it.

    grid: of the audited model; params: of the job, with `seed`, `attacks` and `audit`; threads: with more than one they
    are computed meanwhile, in processes of their own. Each has its own random numbers: the rows do not depend on it.
    """
    answers = Answers.of(grid.load(), params.audit["threats"], params.attacks["rmia"])
    parts = [lookups, innocents, smallest] if params.audit["smallest"] else [lookups, innocents]
    calls = [(part, answers, grid.dataset, params) for part in parts]
    if threads == 1:
        return lambda: [row for call in calls for row in _rows_of(*call)]
    pool = ProcessPoolExecutor(min(threads, len(calls)))
    started = [pool.submit(_rows_of, *call) for call in calls]
    pool.shutdown(wait=False)
    return lambda: [row for one in started for row in one.result()]


def _rows_of(part: Callable[..., Iterator[Row]], answers: Answers, dataset: str, params: Any) -> list[Row]:
    rng = seeds.generator(params.seed, STUDY, dataset, "planted", part.__name__)
    return list(part(answers, {"dataset": dataset, "model": "main"}, params, rng))


def lookups(answers: Answers, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of a planted model that looks records up, as `lookup_rows`, and of how many answers it changes.

    keys: dataset and model; params: of the job, with `attacks` and `audit`.
    """
    keys, part = _named(keys, answers), answers.of_units(LOOKED_UP, rng)
    yield from lookup_rows(part.looked_up(), keys, params, rng)
    changed, membership = part.changed_by_lookup(), part.members.design.values
    yield tidy.row(STUDY, {**keys, "planted": "lookup"}, "changed answers", changed, n=membership.size)


def innocents(answers: Answers, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of models without a leak, as `innocent_rows`; arguments as of `lookups`."""
    part = answers.of_units(ENTRIES, rng)
    yield from innocent_rows(part.panel(part.members.design.values), _named(keys, answers), params, rng)


def lookup_rows(panel: Panel, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of a planted model that looks records up, which must be detected, key `planted`: "lookup".

    panel: the attacks on its answers; others as of `lookups`.
    """
    lookup = _judged(panel, params, rng)
    print(f"{tidy.setting(keys)}: lookup AUC {lookup[0].estimate:.3f}", flush=True)
    renamed = [replace(one, metric=f"lookup {one.metric}") for one in lookup]
    yield from rows(STUDY, {**keys, "planted": "lookup"}, renamed)


def innocent_rows(panel: Panel, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of models without a leak, most of which must not be detected, key `planted`: "innocent".

    panel: the attacks on the answers of the run; others as of `lookups`.
    """
    found = innocents_found(panel, params, rng)
    print(f"{tidy.setting(keys)}: innocents found {sum(found)} of {len(found)}", flush=True)
    innocent, method = {**keys, "planted": "innocent"}, "memberships drawn again; stops when most are decided"
    yield tidy.row(STUDY, innocent, "found", sum(found), unit="count", n=len(found), method=method)
    yield tidy.row(STUDY, innocent, "check failed", 2 * sum(found) > INNOCENTS, unit="yes or no", n=len(found))


def smallest(answers: Answers, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of the smallest leak that is detected, key `planted`: "smallest"; arguments as of `lookups`."""
    named, settings, fpr = {**_named(keys, answers), "planted": "smallest"}, params.attacks, params.audit["fpr"]
    if not answers.deviations.any():
        return
    planted = Plantings(answers, fpr, settings["replicates"], settings["permutations"], rng)
    for metric, one in planted.smallest().items():
        name = f"smallest {AUC if metric == AUC else f'{TPR}@{fpr:g}'}"
        if metric == TPR and not roc.resolved(fpr, answers.members.design.values):
            continue
        yield tidy.row(STUDY, named, name, one.value, n=planted.units, method="detected with probability .8")
        yield tidy.row(STUDY, named, f"{name} effect", one.effect, unit="standard deviations", n=planted.units)


def _named(keys: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
    return {**keys, "records": "persons" if answers.persons else "members"}


def innocents_found(panel: Panel, params: Any, rng: np.random.Generator) -> list[bool]:
    """Whether a leak is detected in each of up to 5 models without one, until most are found or not found.

    Their answers are those of the panel, and their members are drawn again (`strongest_score.judge_redrawn`).
    """
    found: list[bool] = []
    options = {name: params.attacks[name] for name in ("replicates", "permutations")}
    # As many at a time as can decide: they share the redraws of their null.
    while (missing := INNOCENTS // 2 + 1 - max(sum(found), len(found) - sum(found))) > 0:
        judged = judge_redrawn(panel, missing, fpr=params.audit["fpr"], rng=rng, **options)
        found += [auc.detected for auc, _ in judged]
    return found


def _judged(panel: Panel, params: Any, rng: np.random.Generator) -> list[Estimate]:
    """AUC and TPR of the strongest score, chosen and tested as for the headline."""
    settings, fpr = params.attacks, params.audit["fpr"]
    options = {"fprs": [fpr], "replicates": settings["replicates"], "permutations": settings["permutations"]}
    return judge_strongest(panel, choose(panel, fpr), rng=rng, **options)
