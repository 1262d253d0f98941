"""Bounds of number columns from noisy counts, paid from the budget: for columns that no codebook gives bounds for.

The public range of such a column is as wide as it must be, and its bins are fixed by it alone: halvings of the largest
possible size, on both sides of zero. The counts of all bins of all columns are released once with discrete Gaussian
noise. The new bounds are the ends of the first and the last bin whose noisy count is above a threshold that no empty
bin exceeds, but with probability `ERROR`. That is post-processing (as approximate bounds of Wilson et al. 2020).

Sensitivity. The records of a unit share its weight of one, so that in each column its counts change by at most 1 in L1
norm, and in L2 norm; over all columns by at most sqrt(columns). Weights are whole steps of a lattice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from memaudit.common.arrays import Array, Floats
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget, gaussian_rho, gaussian_sigma
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.unit_lattice import STEPS, record_steps

HALVINGS = 40  # the innermost bins end at 2^-40 of the largest possible size
ERROR = 0.01  # probability that a bin of any column is chosen although it is empty
SLACK = 1 + 1e-6  # of sigma, more than noise on a lattice needs beyond the closed form of Gaussians


@dataclass(frozen=True)
class BoundsPlan:
    """The noise of the counts, fixed before a record is read.

    columns: that get bounds; sigma: of the noise, in records; threshold: noisy count that a bin must exceed.
    """

    columns: tuple[str, ...]
    sigma: float
    threshold: float

    @property
    def guarantee(self) -> Guarantee:
        """What the noise guarantees to one unit."""
        moved = math.sqrt(len(self.columns))
        return Guarantee(gaussian_rho(self.sigma, moved**2), ((1, moved * STEPS, self.sigma * STEPS),))

    @property
    def found(self) -> float:
        """Records from which on a bin is within the bounds: all such bins, with probability 1 - `ERROR`."""
        return 2 * self.threshold

    def in_line(self) -> str:
        """The plan for its owner."""
        return (
            f"bounds of {', '.join(self.columns)}: noise of counts sigma {self.sigma:.3g} records; the "
            f"bounds include every power of two up to the next whose values {self.found:,.0f} or more records have "
            f"(probability {1 - ERROR:.0%})"
        )


def planned_bounds(public: Public, wanted: Sequence[str], budget: Budget) -> BoundsPlan:
    """The plan for the columns of these names or patterns. Raises AuditError for one that matches no number column."""
    numbers = [column for column in _with_number_target(public) if column.type == "numeric"]
    for name in wanted:
        if not any(fnmatchcase(column.name, name) for column in numbers):
            raise AuditError(f"release/bounds/columns: {name} is no column of numbers with bounds in the public facts")
    chosen = [column for column in numbers if any(fnmatchcase(column.name, name) for name in wanted)]
    sigma = gaussian_sigma(budget.epsilon, budget.delta, math.sqrt(len(chosen))) * SLACK
    bins = sum(len(bin_edges(column)) - 1 for column in chosen)
    return BoundsPlan(tuple(column.name for column in chosen), sigma, -float(special.ndtri(ERROR / bins)) * sigma)


def noisy_bounds(
    public: Public, values: Floats, units: Sequence[str], plan: BoundsPlan, noise: Noise = discrete_gaussian
) -> dict[str, tuple[float, float]]:
    """Bounds of each column of the plan, within its public range, which it keeps where no bin exceeds the threshold.

    values: (record, column) of the plan's columns, NaN where missing; units: of each record.
    """
    edges = [bin_edges(column) for column in _named(public, plan.columns)]
    counts = noise(lattice_counts(edges, values, units), plan.sigma * STEPS) / STEPS
    of_columns = np.split(counts, np.cumsum([len(one) - 1 for one in edges])[:-1])
    parts = zip(plan.columns, edges, of_columns, strict=True)
    return {name: _ends(ends, one, plan.threshold) for name, ends, one in parts}


def lattice_counts(edges: Sequence[Array], values: Floats, units: Sequence[str]) -> NDArray[np.int64]:
    """Weight of the records in each bin of each column, in lattice steps: (bins of all columns,)."""
    weights = np.trunc(record_steps(units)) if len(values) else np.zeros(0)
    counts = []
    for column, bounds in zip(values.T, edges, strict=True):
        known = ~np.isnan(column)
        place = np.searchsorted(bounds[1:-1], column[known], side="right")
        counts.append(np.bincount(place, weights[known], minlength=len(bounds) - 1))
    return np.concatenate(counts).astype(np.int64)


def bin_edges(column: Column) -> Array:
    """Ends of the bins of a column, rising, from its lower to its upper public bound."""
    lower, upper = column.bounds
    sizes = max(abs(lower), abs(upper)) * 0.5 ** np.arange(1, HALVINGS + 1)
    inner = np.sort(np.concatenate([-sizes, [0.0], sizes]))
    return np.concatenate([[lower], inner[(inner > lower) & (inner < upper)], [upper]])


def facts_with(public: Public, bounds: dict[str, tuple[float, float]], source: str) -> dict[str, Any]:
    """Content of a file of public facts with new bounds, each column under its own name."""
    columns = [replace(one, values=bounds.get(one.name, one.values)) for one in _with_number_target(public)]
    values = {one.name: list(one.values) for one in columns}
    target = values.pop("target") if public.task == "regression" else list(public.target.values)
    facts = {"source": source, "records": public.records, "task": public.task}
    return facts | {"target": target, "columns": values}


def _with_number_target(public: Public) -> tuple[Column, ...]:
    return public.with_target().columns if public.task == "regression" else public.columns


def _named(public: Public, names: Sequence[str]) -> list[Column]:
    known = {column.name: column for column in _with_number_target(public)}
    return [known[name] for name in names]


def _ends(edges: Array, counts: Array, threshold: float) -> tuple[float, float]:
    above = np.flatnonzero(counts > threshold)
    if not len(above):
        return float(edges[0]), float(edges[-1])
    return float(edges[above[0]]), float(edges[above[-1] + 1])
