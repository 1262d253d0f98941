"""Private regression: worst-case sensitivity of a step, its account, an audit that halved noise fails, and learning."""

from dataclasses import replace

import numpy as np
import pytest
from private_records import UNSEEDED

from memaudit.common.errors import AuditError
from memaudit.privacy import noisy_descent
from memaudit.privacy.accounting import Budget, delta_of, gaussian_sigma
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.noisy_descent import Settings, inputs, lattice_gradients, sigma_for, targets, train
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS
from memaudit.statistics.epsilon_bounds import mu_lower_bound

COLUMNS = (Column("a", (0.0, 10.0)), Column("kind", ("p", "q", "r")), Column("b", (-1.0, 1.0)))
PUBLIC = Public("towns", "made up", 300, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (100.0, 300.0)))


def table(public=PUBLIC, size=400):
    rng = np.random.default_rng(2)
    a = rng.uniform(0, 10, size)
    x = np.column_stack([a, rng.integers(0, 3, size), rng.uniform(-1, 1, size)]).astype(np.float32)
    y = (a > 5).astype(np.int64) if public.task == "classification" else 100 + 20 * a
    return Private(x, y, [f"unit {number}" for number in range(size)], b"", public)


def part(private, kept):
    units = np.asarray(private.units)[kept].tolist()
    return replace(private, x=private.x[kept], y=private.y[kept], units=units)


def summed(weights, private, clip=1.0):
    rows, truth = inputs(private.x, private.public), targets(private.y, private.public)
    return lattice_gradients(weights, rows, truth, private, clip).sum(0)


@pytest.mark.parametrize("clip", [0.3, 1.0])
@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_removing_one_unit_moves_a_step_by_at_most_its_stated_sensitivity_for_any_weights(public, clip):
    private = table(public, 40)
    private.units[:7] = ["a large unit"] * 7
    # Residuals and inputs as large as they can be, and values that are missing.
    private.x[:5] = [[10, 2, 1], [0, 0, -1], [np.nan, np.nan, np.nan], [10, 1, -1], [0, 2, 1]]
    outputs, moved = targets(private.y, public).shape[1], []
    for scale in (0, 1, 30):
        weights = scale * np.random.default_rng(scale).normal(size=(6, outputs))
        whole = summed(weights, private, clip)
        for unit in set(private.units):
            kept = np.array([other != unit for other in private.units])
            moved.append(sum(int(one) ** 2 for one in whole - summed(weights, part(private, kept), clip)))
    assert max(moved) <= STEPS**2
    assert max(moved) > 0.99 * STEPS**2, "the bound is reached"


def wide(outputs, task="classification"):
    """Records with so many columns that a product by BLAS is blocked, and random weights."""
    rng, size, count = np.random.default_rng(outputs), 407, 65
    columns = tuple(Column(f"c{place}", (-4.0, 4.0)) for place in range(count))
    target = Column("target", tuple(map(str, range(outputs))) if task == "classification" else (-4.0, 4.0))
    public = Public("wide", "made up", size, task, columns, target)
    y = rng.integers(0, outputs, size) if task == "classification" else rng.normal(size=size)
    rows, truth = inputs(rng.normal(size=(size, count)).astype(np.float32), public), targets(y, public)
    return public, rows, truth, rng.normal(size=(count + 1, outputs))


def moved_records(gradients, public, rows, truth, weights):
    """How many records' gradients change in any bit as another record is removed, or most others are."""
    whole, moved = gradients(weights, rows, truth, public, 1.0), 0
    size = len(rows)
    for kept in [*(np.arange(size) != left for left in (0, 1, 2, 3, size - 1)), *(np.arange(size) < n for n in (1, 5))]:
        other = gradients(weights, rows[kept], truth[kept], public, 1.0)
        moved += int((other.view(np.int64) != whole[kept].view(np.int64)).any(1).sum())
    return moved


@pytest.mark.parametrize(("outputs", "task"), [(2, "classification"), (10, "classification"), (1, "regression")])
def test_a_record_s_gradient_is_the_same_to_the_last_bit_whatever_other_records_there_are(outputs, task):
    """Before rounding: a lattice point hides all but one difference of last bits in thousands of millions."""
    public, rows, truth, weights = wide(outputs, task)
    assert moved_records(noisy_descent.gradients, public, rows, truth, weights) == 0


def test_that_comparison_finds_a_product_which_depends_on_the_batch(monkeypatch):
    public, rows, truth, weights = wide(10)
    # As a blocked product does: the order of a record's sum depends on how many records there are.
    monkeypatch.setattr(
        noisy_descent, "scores", lambda rows, weights: rows[:, :: (-1) ** len(rows)] @ weights[:: (-1) ** len(rows)]
    )
    assert moved_records(noisy_descent.gradients, public, rows, truth, weights) > 0


def test_removing_a_record_leaves_the_rounded_contributions_of_all_others():
    private = table(PUBLIC, 60)
    weights = np.random.default_rng(1).normal(size=(6, 2))

    def points(private):
        rows, truth = inputs(private.x, PUBLIC), targets(private.y, PUBLIC)
        return lattice_gradients(weights, rows, truth, private, 1.0)

    whole = points(private)
    for left in range(60):
        kept = np.arange(60) != left
        np.testing.assert_array_equal(points(part(private, kept)), whole[kept])


def test_a_gradient_that_is_not_finite_moves_nothing():
    private = table(RENTS, 5)
    assert not summed(np.full((6, 1), np.inf), private).any()


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-5), Budget(10.0, 1e-6)])
def test_the_account_of_all_steps_is_the_budget(budget):
    sigma = sigma_for(budget, 50)
    assert delta_of(budget.epsilon, [(50, float(STEPS), sigma * STEPS)]) <= budget.delta
    assert sigma == pytest.approx(50**0.5 * gaussian_sigma(budget.epsilon, budget.delta), rel=1e-3)


@pytest.mark.parametrize(("divisor", "refuted"), [(1, False), (2, True)])
def test_an_audit_of_one_step_holds_its_stated_mu_and_refutes_half_the_noise(divisor, refuted):
    """The worst case: a table of one record whose gradient is clipped, against the empty table."""
    private, weights, runs = table(RENTS, 1), np.full((6, 1), 50.0), 4000
    rows, truth = inputs(private.x, RENTS), targets(private.y, RENTS)
    shift = lattice_gradients(weights, rows, truth, private, 1.0).sum(0)
    sigma = 2.0 * STEPS / divisor
    drawn = discrete_gaussian(np.zeros((2 * runs, len(shift)), np.int64), sigma)
    drawn[:runs] += shift
    hits = (drawn @ shift / STEPS**2 > 0.5).reshape(2, runs).sum(1)
    assert (mu_lower_bound(int(hits[0]), runs, int(hits[1]), runs, UNSEEDED) > 1 / 2.0) == refuted


def test_every_step_gets_the_noise_of_its_account_and_sums_of_all_records():
    centers, sigmas = [], []

    def recorded(center, sigma):
        centers.append(center)
        sigmas.append(sigma)
        return center

    trained = train(table(), Budget(1.0, 1e-5), Settings(steps=7), recorded)
    assert trained.mechanisms == ((7, float(STEPS), sigmas[0]),)
    assert len(centers) == 7
    assert len(set(sigmas)) == 1


@pytest.mark.parametrize(("epsilon", "good"), [(1.0, True), (0.01, False)])
def test_a_budget_learns_classes_and_a_tiny_one_does_not(epsilon, good):
    private = table()
    # One direction of noise alone may be right by chance.
    trained = [train(part(private, slice(300)), Budget(epsilon, 1e-5)) for _ in range(10)]
    correct = [(one.predict(private.x[300:]).argmax(1) == private.y[300:]).mean() for one in trained]
    assert (np.mean(correct) > 0.85) == good


def test_numbers_are_learned_within_their_public_range():
    private = table(RENTS)
    values = train(part(private, slice(300)), Budget(10.0, 1e-5)).predict(private.x[300:])
    assert np.sqrt(np.mean((values - private.y[300:]) ** 2)) < 0.5 * private.y.std()
    assert ((values >= 100) & (values <= 300)).all()


def test_without_noise_the_weights_are_those_of_the_penalised_loss():
    private = table()
    rows, truth = inputs(private.x, PUBLIC), targets(private.y, PUBLIC)
    settings = Settings(steps=2000, clip=100.0, penalty=0.05)
    found = train(replace(private, public=replace(PUBLIC, records=400)), Budget(1.0, 1e-5), settings, lambda c, s: c)
    residuals = noisy_descent.softmax(rows @ found.weights, axis=1) - truth
    np.testing.assert_allclose(rows.T @ residuals / 400 + 0.05 * found.weights, 0, atol=1e-3)


@pytest.mark.parametrize("budget", [Budget(0.0, 1e-5), Budget(1.0, 0.5)])
def test_a_budget_without_a_guarantee_is_refused(budget):
    with pytest.raises(AuditError, match="budget"):
        train(table(), budget)
