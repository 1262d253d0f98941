"""Tidy rows of the leakage against the number of contexts and the size of a context, extrapolated."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from memaudit.attacks.score_matrices import variant
from memaudit.common import seeds, tidy
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.context_size import extrapolated, measured
from memaudit.statistics.leakage_growth import growth
from memaudit.statistics.strongest_score import Panel
from memaudit.studies.audit.audit_attacks import on_members

STUDY = "audit"
SMALLER = re.compile(r"context \d+")  # names of variants that differ in the size of the contexts alone
Row = dict[str, Any]


def leakage_rows(
    main: xr.Dataset, smaller: xr.Dataset | None, panel: Panel, name: str, headline: pd.DataFrame, params: Any
) -> Iterator[Row]:
    """Rows of `growth_rows` of the headline's panel and of `size_rows`.

    name: the score that the headline chose most often; headline: its results, with their keys as columns; params: of
    the job, with `seed`, `attacks` and `audit`.
    """
    detected = bool(headline.loc[headline["metric"] == "auc detected", "estimate"].iloc[0])
    replicates, keys = params.attacks["replicates"], {"dataset": main.dataset, "model": "main"}
    rng = seeds.generator(params.seed, STUDY, main.dataset, "extrapolated")
    yield from growth_rows(panel, name, detected, keys, replicates, rng)
    yield from size_rows(main, smaller, params.audit["context_rows"], params.audit, replicates, rng)


def growth_rows(
    panel: Panel, name: str, detected: bool, keys: Mapping[str, Any], replicates: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Rows of the AUC of the score `name` by key `contexts`, and of its limit; without one its method says why.

    detected: whether a leak is.
    """
    found = growth(panel, name, rng, replicates, detected)
    keys = {**keys, "score": name}
    for size, one in zip(found.sizes, found.at, strict=True):
        yield _row({**keys, "contexts": size}, "auc by contexts", one)
    yield _row(keys, "auc with many contexts", found.limit, found.reason)


def size_rows(
    main: xr.Dataset,
    smaller: xr.Dataset | None,
    deployed: int,
    audit: Mapping[str, Any],
    replicates: int,
    rng: np.random.Generator,
) -> Iterator[Row]:
    """Rows of the AUC by key `context`, its records, and of that of the deployed one; without it its method says why.

    main: score matrix of the usual contexts; smaller: of smaller ones, None in the first stage; every size has as many
    contexts as the smaller ones. audit: with `threats`.
    """
    grids = {} if smaller is None else {
        name: variant(smaller, name) for name in dict.fromkeys(smaller.variant.values) if SMALLER.fullmatch(name)
    }  # fmt: skip
    contexts = min([main.sizes["model"], *(grid.sizes["model"] for grid in grids.values())])
    cases = {
        context_size(grid): on_members(grid.isel(model=slice(contexts)), "main", audit["threats"])
        for grid in (*grids.values(), main)
    }
    at = [measured(size, case, rng, replicates) for size, case in sorted(cases.items())]
    keys = {"dataset": main.dataset, "model": "main", "contexts": contexts}
    for one in at:
        yield _row({**keys, "context": one.size}, "auc by size", one.estimate)
    found, reason = extrapolated(at, deployed)
    yield _row(keys, "auc as deployed", found, reason)
    yield tidy.row(STUDY, keys, "deployed records", deployed, unit="count")


def context_size(grid: xr.Dataset) -> int:
    """Records of a context, the mean over contexts, rounded."""
    return round(float((grid.counts.values * grid.member.values).sum(1).mean()))


def _row(keys: Mapping[str, Any], metric: str, found: Estimate | None, reason: str = "") -> Row:
    if found is None:
        return tidy.row(STUDY, keys, metric, np.nan, method=reason)
    facts = {"low": found.low, "high": found.high, "null": found.null, "n": found.n, "method": found.method}
    return tidy.row(STUDY, keys, metric, found.estimate, **facts)
