"""Paid bounds: exact sensitivity, the cost that is charged, coverage of simulated columns, an audit of the noise."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from private_records import CLASSES, NUMBER, UNSEEDED, Recorder, silent

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget, gaussian_rho
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.noisy_bounds import (
    HALVINGS,
    bin_edges,
    facts_with,
    lattice_counts,
    noisy_bounds,
    planned_bounds,
)
from memaudit.privacy.public_facts import Column, read_public
from memaudit.privacy.unit_lattice import STEPS
from memaudit.statistics.epsilon_bounds import mu_lower_bound

WIDE = (Column("a", (-1e9, 1e9)), Column("b", (0.0, 1e9)), Column("kind", ("x", "y")))
PUBLIC = replace(CLASSES, records=5000, columns=WIDE)
BUDGET = Budget(0.2, 1e-6)
RNG = np.random.default_rng(0)


def ids(count):
    return [str(number) for number in range(count)]


def test_bins_follow_from_the_public_range_alone():
    edges = bin_edges(Column("a", (-4.0, 16.0)))
    assert (np.diff(edges) > 0).all()
    assert {-4.0, -2.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0} <= set(edges)
    assert len(bin_edges(WIDE[0])) == 2 * HALVINGS + 3
    assert bin_edges(Column("year", (1900.0, 2100.0))).tolist() == [1900.0, 2100.0]


def test_removing_any_unit_moves_the_counts_by_at_most_the_stated_norm():
    """Units of one row to several rows, with missing values, and one at the ends of the range."""
    values = RNG.normal(0, 1e4, (60, 2)) * RNG.choice([1e-6, 1, 1e4], (60, 2))
    values[:3] = [[-1e9, 1e9], [1e9, 0], [np.nan, 7]]
    units = np.array([f"u{place}" for place in [0, 1, 2, *RNG.integers(3, 20, 57)]])
    edges = [bin_edges(column) for column in WIDE[:2]]
    whole, norms = lattice_counts(edges, values, units), []
    for unit in np.unique(units):
        rest = units != unit
        norms.append(((whole - lattice_counts(edges, values[rest], units[rest])) ** 2).sum() / STEPS**2)
    assert max(norms) == 2, "reached by a unit of one row"
    assert sum(norm < 1.9 for norm in norms) > 5, "several rows in several bins"


def test_the_noise_costs_what_is_charged_and_the_budget_covers_it():
    plan, noise = planned_bounds(PUBLIC, ["a", "b"], BUDGET), Recorder()
    noisy_bounds(PUBLIC, RNG.normal(0, 1, (50, 2)), ids(50), plan, noise)
    assert len(noise.sigmas) == 1
    assert gaussian_rho(noise.sigmas[0], 2 * STEPS**2) == pytest.approx(plan.guarantee.rho)
    assert plan.guarantee.deltas([BUDGET.epsilon])[0] <= BUDGET.delta
    less = replace(plan, sigma=plan.sigma * 0.999)
    assert less.guarantee.deltas([BUDGET.epsilon])[0] > BUDGET.delta


COLUMNS = {
    "normal": lambda n: RNG.normal(50, 20, n),
    "skewed": lambda n: RNG.lognormal(10, 1, n),
    "uniform": lambda n: RNG.uniform(-3, 3, n),
    "heavy tail": lambda n: RNG.pareto(1.5, n),
    "constant": lambda n: np.full(n, 12.0),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_bounds_cover_nearly_all_records_and_little_else(name):
    """Of 20 private tables of 5,000 records; an empty bin is taken in one of a hundred tables."""
    plan, covered, far = planned_bounds(PUBLIC, ["a"], BUDGET), [], 0
    for _ in range(20):
        values = COLUMNS[name](5000)
        lower, upper = noisy_bounds(PUBLIC, values[:, None], ids(5000), plan)["a"]
        covered.append(((values >= lower) & (values <= upper)).mean())
        far += upper > 2 * values.max() or lower < min(2 * values.min(), 0)
    assert min(covered) > 0.9
    assert np.mean(covered) > 0.95
    assert far <= 4


def test_every_bin_of_enough_records_is_within_and_no_empty_one():
    """In 400 tables: an empty bin with a probability of .01 in all, one of the two full bins with much less."""
    plan, edges = planned_bounds(PUBLIC, ["a"], BUDGET), bin_edges(WIDE[0])
    full = [45, 52]
    values = np.repeat((edges[full] + edges[np.add(full, 1)]) / 2, int(np.ceil(plan.found)))
    found = [noisy_bounds(PUBLIC, values[:, None], ids(len(values)), plan)["a"] for _ in range(400)]
    narrower = sum(lower > edges[45] or upper < edges[53] for lower, upper in found)
    wider = sum(lower < edges[45] or upper > edges[53] for lower, upper in found)
    assert narrower <= 4
    assert wider <= 16


def test_no_records_or_too_little_budget_keep_the_public_range():
    plan = planned_bounds(PUBLIC, ["a", "b"], BUDGET)
    for count in (0, 20):
        kept = noisy_bounds(PUBLIC, np.ones((count, 2)), ids(count), plan, silent)
        assert kept == {"a": (-1e9, 1e9), "b": (0.0, 1e9)}


@pytest.mark.parametrize(("divisor", "refuted"), [(1, False), (2, True)])
def test_an_audit_holds_the_stated_mu_and_refutes_half_the_noise(divisor, refuted):
    """The worst case: one row against the empty table, tested by the likelihood ratio of its counts."""
    plan, runs, released = planned_bounds(PUBLIC, ["a", "b"], Budget(4.0, 1e-6)), 500, []

    def recorded(center, sigma):
        released.append(discrete_gaussian(center, sigma / divisor))
        return released[-1]

    for rows in [1] * runs + [0] * runs:
        noisy_bounds(PUBLIC, np.full((rows, 2), 3.0), ids(rows), plan, recorded)
    canary = lattice_counts([bin_edges(column) for column in WIDE[:2]], np.full((1, 2), 3.0), ["0"]) / STEPS
    hits = (np.array(released) @ canary / STEPS > 1).reshape(2, runs).sum(1)
    assert (mu_lower_bound(int(hits[0]), runs, int(hits[1]), runs, UNSEEDED) > plan.guarantee.mu) == refuted


def test_the_new_facts_are_read_with_the_new_bounds(tmp_path):
    facts = facts_with(PUBLIC, {"a": (-64.0, 128.0)}, "a form; paid")
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(facts, sort_keys=False))
    known = read_public(path, {"a": "numeric", "b": "numeric", "kind": "categorical"})
    narrow = replace(WIDE[0], values=(-64.0, 128.0))
    assert known == replace(PUBLIC, source="a form; paid", columns=(narrow, *WIDE[1:]))


def test_a_number_target_can_have_paid_bounds_and_others_are_refused():
    plan = planned_bounds(NUMBER, ["target"], BUDGET)
    assert plan.columns == ("target",)
    assert facts_with(NUMBER, {"target": (25.0, 50.0)}, "s")["target"] == [25.0, 50.0]
    for name in ("kind", "c", "target"):
        with pytest.raises(AuditError, match=f"release/bounds/columns: {name} is no column of numbers"):
            planned_bounds(PUBLIC, ["a", name], BUDGET)
