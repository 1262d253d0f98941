"""A tuned alpha: what tuning costs, what one unit can move, and who is chosen where nothing is hidden."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from private_records import CLASSES, KEY, NUMBER, silent
from pydantic import ValidationError

from memaudit.common.errors import AuditError
from memaudit.config.tabpate_arms import Tuning as Section
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.noisy_means import STEPS as MEAN_STEPS
from memaudit.privacy.noisy_moments import moments_sensitivity
from memaudit.privacy.release_methods import released
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.tuned_alpha import Tuning, loss_sum, losses, release_tuned
from memaudit.privacy.unit_lattice import STEPS

BUDGET = Budget(10.0, 1e-5)
VOTES = Settings(queries=20, teachers=5)
TUNING = Tuning((0.0, 0.05, 0.2), 0.1, VOTES)


def records(public, count=120, seed=0, a_unit=1):
    """Targets by the place in a small part of the public range, where even queries are rare; units of some records."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(2, 3, (count, 2)).astype(np.float32)
    y = (x[:, 0] > 2.5).astype(int) if public is CLASSES else 100.0 * (x[:, 0] - 2)
    return x, y, [f"u{number // a_unit}" for number in range(count)]


def nearest(contexts, queries):
    """A model: the target of the nearest row of the context, as logits of two classes or as a number."""
    predicted = []
    for x, y in contexts:
        near = np.asarray(y)[np.linalg.norm(queries[:, None] - x, axis=2).argmin(1)]
        predicted.append(near if y.dtype.kind == "f" else np.log(near[:, None] == np.arange(2)))
    return np.array(predicted, dtype=np.float32)


nearest = np.errstate(divide="ignore")(nearest)


def ranked(contexts, queries):
    """A model that breaks its promise: what it says of a query depends on all queries of the call."""
    return np.array([100 * queries[:, 0] / queries[:, 0].sum() for _ in contexts], dtype=np.float32)


def private_of(data, public):
    x, y, units = data
    return Private(x, y, units, KEY, public)


def tuned(public, tuning=TUNING, data=None, budget=BUDGET, predict=nearest, noise=silent):
    private = private_of(data or records(public), public)
    return release_tuned(TabPATE(private, predict, np.random.default_rng(1), noise), tuning, budget)


def contexts_of(public):
    """Three contexts: right, wrong, and none at all."""
    x, y, _ = records(public, 30, seed=3)
    wrong = 1 - y if public is CLASSES else 100 - y
    return [Released(x, y, 0, 0, {}), Released(x, wrong, 0, 0, {}), Released(x[:0], y[:0], 0, 0, {})]


def sums(public, data, predict=nearest):
    private = private_of(data, public)
    return np.array([loss_sum(losses(context, private, predict), private.units) for context in contexts_of(public)])


def without(data, unit):
    x, y, units = data
    keep = np.array([other != unit for other in units])
    return x[keep], y[keep], [other for other in units if other != unit]


@pytest.mark.parametrize("public", [CLASSES, NUMBER], ids=["classes", "number"])
@pytest.mark.parametrize("a_unit", [1, 7])
def test_removing_any_unit_moves_every_sum_by_at_most_one(public, a_unit):
    data = records(public, 42, a_unit=a_unit)
    moved = np.array([sums(public, data) - sums(public, without(data, unit)) for unit in dict.fromkeys(data[2])])
    assert moved.min() >= 0
    assert moved.max() <= STEPS
    assert moved.max() > (0.9 if a_unit == 1 else 0.7) * STEPS, (
        "where the bound is nearly met, a looser one would be seen"
    )
    assert moved.sum(0).tolist() == sums(public, data).tolist(), "what a unit adds depends on nobody else"


def test_a_model_whose_queries_change_one_another_gives_no_record_more_weight():
    data = records(NUMBER, 20)
    whole = sums(NUMBER, data, ranked)
    moved = [np.abs(whole - sums(NUMBER, without(data, unit), ranked)).max() for unit in data[2]]
    assert max(moved) <= STEPS


def test_losses_beyond_one_and_those_that_are_no_number_count_as_one():
    units = ["p", "q", "r", "s"]
    assert loss_sum(np.array([7.0, np.nan, -3.0, np.inf]), units) == 3 * STEPS
    assert loss_sum(np.array([0.25, 0.5, 0.0, 1.0]), units) == 1.75 * STEPS
    assert loss_sum(np.array([]), []) == 0


@pytest.mark.parametrize("size", [2, 3, 49, 1000])
def test_a_unit_of_many_records_counts_as_one(size):
    assert STEPS - size <= loss_sum(np.full(size, 5.0), ["a person"] * size) <= STEPS
    half = loss_sum(np.arange(size) % 2, ["a person"] * size) / STEPS
    assert half == pytest.approx(size // 2 / size, abs=size / STEPS)
    alone = loss_sum(np.full(size + 1, 1.0), [*["a person"] * size, "another"])
    assert alone - loss_sum(np.full(size, 1.0), ["a person"] * size) == STEPS


def test_losses_are_errors_in_what_saying_the_middle_can_err_at_most():
    x, y = np.array([[1, 1], [9, 9]], np.float32), np.array([0.0, 75.0])
    none = Released(x[:0], y[:0], 0, 0, {})
    assert losses(none, private_of((x, y, ["p", "q"]), NUMBER), nearest).tolist() == [1.0, 0.25]
    right = Released(x, np.array([1, 1]), 0, 0, {})
    assert losses(right, private_of((x, np.array([0, 1]), ["p", "q"]), CLASSES), nearest).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("public", [CLASSES, NUMBER], ids=["classes", "number"])
@pytest.mark.parametrize("budget", [Budget(0.5, 1e-6), Budget(10.0, 1e-5)])
@pytest.mark.parametrize("share", [0.01, 1 / 3, 0.9])
@pytest.mark.parametrize("sigma2", [None, 1.5])
def test_all_noise_that_is_drawn_costs_at_most_the_budget(public, budget, share, sigma2):
    """In fractions, from the sigmas and shapes of the calls themselves, against a budget that has no slack left."""
    drawn = []

    def watched(center, sigma):
        drawn.append((center, Fraction(sigma)))
        return center

    tuning = Tuning((0.0, 0.05, 0.3), share, replace(VOTES, sigma2=sigma2, narrowed=True))
    found = tuned(public, tuning, records(public, 60), budget, noise=watched)
    squared = {"moments": Fraction(round(moments_sensitivity(public) ** 2)) * STEPS**2}
    if public is NUMBER:
        assert moments_sensitivity(public) == moments_sensitivity(public.with_target())
    squared |= {"labels": Fraction(2) if public is CLASSES else Fraction(MEAN_STEPS) ** 2, "choice": 3 * STEPS**2}
    costs = {"moments": 0, "labels": 0, "choice": 0}
    for number, (center, sigma) in enumerate(drawn, 1):
        # Moments are one row of more columns than there are classes.
        moments = center.ndim == 2 and center.shape[1] > 2
        kind = "choice" if number == len(drawn) else "moments" if moments else "labels"
        costs[kind] += (len(center) if kind == "labels" else 1) * Fraction(squared[kind]) / (2 * sigma**2)
    whole = Fraction(rho_within(budget))
    assert sum(costs.values()) <= whole
    assert float(costs["choice"] / whole) == pytest.approx(share)
    if sigma2 is None:
        assert float(sum(costs.values()) / whole) == pytest.approx(1, abs=1e-6), "and nothing is left over"
        assert float(costs["moments"] / whole) == pytest.approx((1 - share) * (0.05 + 0.3) / 3)
    assert found.statement["rho"] <= rho_within(budget)


@pytest.mark.parametrize("public", [CLASSES, NUMBER], ids=["classes", "number"])
@pytest.mark.parametrize("candidates", [(0.0, 0.5), (0.5, 0.0)])
def test_without_noise_the_best_candidate_is_chosen_in_any_order(public, candidates):
    """All records lie where one even query in a hundred does: moments find it."""
    found = tuned(public, Tuning(candidates, 0.1, replace(VOTES, queries=60)))
    assert found.statement["alpha"] == 0.5
    assert np.abs(found.x - 2.5).mean() < 1
    lost, won = (found.statement["candidates"][f"alpha {alpha}"]["noisy_loss"] for alpha in ("0", "0.5"))
    assert won < lost
    private = private_of(records(public), public)
    assert won * STEPS == loss_sum(losses(found, private, nearest), private.units)


def test_the_choice_is_that_of_noisy_sums_alone():
    def upside_down(center, sigma):
        """The last draw is the choice, of one sum for each candidate."""
        return -center if center.shape == (2,) else center

    candidates = Tuning((0.0, 0.5), 0.1, VOTES)
    assert tuned(NUMBER, candidates, noise=upside_down).statement["alpha"] == 0.0


def test_rejected_candidates_cost_their_part_and_the_statement_lists_it():
    found = tuned(NUMBER)
    spent = found.statement["candidates"]
    assert list(spent) == ["alpha 0", "alpha 0.05", "alpha 0.2"]
    whole = rho_within(BUDGET)
    assert [one["rho"] for one in spent.values()] == pytest.approx([0.3 * whole] * 3)
    for alpha, one in zip(TUNING.candidates, spent.values(), strict=True):
        assert one["moments"]["rho"] == pytest.approx(alpha * one["rho"])
        assert one["labels_rho"] == pytest.approx((1 - alpha) * one["rho"])
    assert found.statement["rho"] == pytest.approx(whole)
    assert "has cost its part, chosen or not" in found.statement["losers"]


def test_a_condition_of_the_config_releases_within_one_budget():
    private = private_of(records(NUMBER), NUMBER)
    settings = Section(**{"teachers": 5, "queries": 20, "candidates": [0.0, 0.2], "share": 0.1}).model_dump()
    arm = {"method": "tabpate-tuned", "settings": settings}
    found = released(arm, private, BUDGET, nearest, np.random.default_rng(0))
    assert found.answered == len(found.x) == 20
    assert found.statement["rho"] <= rho_within(BUDGET)
    assert settings["candidates"] == [0.0, 0.2], "the arm's settings are left as they were"


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, np.nan])
def test_a_choice_without_a_budget_is_refused_before_a_record_is_used(share):
    def never(contexts, queries):
        raise AssertionError("a teacher was queried")

    with pytest.raises(AuditError, match="tuning: a share of"):
        tuned(NUMBER, replace(TUNING, share=share), predict=never)
    with pytest.raises(AuditError, match="budget"):
        tuned(NUMBER, budget=Budget(1.0, 0.0), predict=never)


@pytest.mark.parametrize("changed", [{"candidates": [0.1]}, {"candidates": [0.0, 1.0]}, {"share": 0.0}, {"share": 1.0}])
def test_settings_that_leave_no_choice_no_labels_or_no_budget_are_refused(changed):
    wanted = {"teachers": 5, "queries": 20, "candidates": [0.0, 0.2], "share": 0.1}
    assert Section(**wanted)
    with pytest.raises(ValidationError):
        Section(**(wanted | changed))
