"""Checks of an audit by planted models: one that looks records up is found, and one without a leak is not."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from memaudit.common import seeds, tidy
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, judge_strongest
from memaudit.studies.audit.planted_effects import Answers
from memaudit.studies.audit.smallest_leak import Plantings

STUDY = "audit"
ENTRIES = 51_200  # of more, the planted models are judged on some of the units
INNOCENTS = 5  # models without a leak: the check fails if most of them are found
Row = dict[str, Any]


def planted_rows(grid: xr.Dataset, params: Any) -> Iterator[Row]:
    """Tidy rows of `check_rows` on the answers of a score matrix of the audited model."""
    answers = Answers.of(grid, params.audit["threats"], params.attacks["rmia"])
    rng = seeds.generator(params.seed, STUDY, grid.dataset, "planted")
    yield from check_rows(answers, {"dataset": grid.dataset, "model": "main"}, params, rng)


def check_rows(answers: Answers, keys: Mapping[str, Any], params: Any, rng: np.random.Generator) -> Iterator[Row]:
    """Tidy rows of the planted models and of the smallest leak that is detected.

    keys: dataset and model; params: of the job, with `attacks` and `audit`. Key `planted`: "lookup", "innocent" (the
    number of models that are found, of those that were tried), "smallest".
    """
    keys = {**keys, "records": "persons" if answers.persons else "members"}
    part, settings, fpr = answers.of_units(ENTRIES, rng), params.attacks, params.audit["fpr"]
    lookup = _judged(part.looked_up(), params, rng)
    renamed = [replace(one, metric=f"lookup {one.metric}") for one in lookup]
    yield from rows(STUDY, {**keys, "planted": "lookup"}, renamed)
    changed = part.changed_by_lookup()
    yield tidy.row(STUDY, {**keys, "planted": "lookup"}, "changed answers", changed, n=lookup[0].n)
    found = innocents_found(part, params, rng)
    innocent, method = {**keys, "planted": "innocent"}, "memberships drawn again; stops when most are decided"
    yield tidy.row(STUDY, innocent, "found", sum(found), unit="count", n=len(found), method=method)
    yield tidy.row(STUDY, innocent, "check failed", 2 * sum(found) > INNOCENTS, unit="yes or no", n=len(found))
    named = {**keys, "planted": "smallest"}
    if not answers.deviations.any():
        return
    planted = Plantings(answers, fpr, settings["replicates"], settings["permutations"], rng)
    for metric, smallest in planted.smallest().items():
        name = f"smallest {AUC if metric == AUC else f'{TPR}@{fpr:g}'}"
        if metric == TPR and not roc.resolved(fpr, answers.members.design.values):
            continue
        yield tidy.row(STUDY, named, name, smallest.value, n=planted.units, method="detected with probability .8")
        yield tidy.row(STUDY, named, f"{name} effect", smallest.effect, unit="standard deviations", n=planted.units)
    print(f"{tidy.setting(keys)}: lookup AUC {lookup[0].estimate:.3f}, innocents found {sum(found)}", flush=True)


def innocents_found(answers: Answers, params: Any, rng: np.random.Generator) -> list[bool]:
    """Whether a leak is detected in each of up to 5 models without one, until most are found or not found."""
    found: list[bool] = []
    while 2 * max(sum(found), len(found) - sum(found)) < INNOCENTS:
        found.append(_judged(answers.panel(answers.redrawn(rng)), params, rng)[0].detected)
    return found


def _judged(panel: Panel, params: Any, rng: np.random.Generator) -> list[Estimate]:
    """AUC and TPR of the strongest score, chosen and tested as for the headline."""
    settings, fpr = params.attacks, params.audit["fpr"]
    options = {"fprs": [fpr], "replicates": settings["replicates"], "permutations": settings["permutations"]}
    return judge_strongest(panel, choose(panel, fpr), rng=rng, **options)
