"""Attacks by different queries, compared on the same targets in the same shadow contexts."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from memaudit.statistics import threat_models
from memaudit.statistics.threat_models import Case, case

Pairs = list[tuple[Case, Case]]


def matched(grid: xr.Dataset, other: xr.Dataset) -> xr.Dataset | None:
    """The targets and contexts of another score matrix in this one; None where it lacks some or memberships differ."""
    contexts = other.sizes["model"]
    if not np.isin(other.record.values, grid.record.values).all() or grid.sizes["model"] < contexts:
        return None
    common = grid.isel(model=slice(contexts)).sel(record=other.record.values)
    return common if np.array_equal(common.design.values, other.design.values) else None


def lira_beside(usual: xr.Dataset, perturbed: xr.Dataset, perturbation: Case) -> Pairs:
    """LiRA beside the perturbation, on the same targets and contexts; none where the usual score matrix lacks some."""
    passive = matched(usual, perturbed)
    if passive is None:
        return []
    return [(case(_keys(perturbation), "lira", threat_models.lira_of(passive), passive), perturbation)]


def labels_alone(
    perturbed: xr.Dataset | None, poisoned: xr.Dataset | None, cases: Iterable[Case], perturbation: Mapping[str, Any]
) -> Pairs:
    """Brainwash beside the perturbation, on its targets and contexts; none where the perturbed matrix lacks some.

    perturbed, poisoned: None where no target, or no context, is; cases: with Brainwash on the arm `main`; perturbation:
    its settings.
    """
    common = None if perturbed is None or poisoned is None else matched(perturbed, poisoned)
    if common is None:
        return []
    brainwash = next(one for one in cases if one.name == "brainwash" and one.keys["arm"] == "main")
    return [(brainwash, threat_models.perturbation_case(_keys(brainwash), common, perturbation))]


def _keys(one: Case) -> dict[str, str]:
    return {key: one.keys[key] for key in ("dataset", "arm", "model", "records")}
