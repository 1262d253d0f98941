"""Labels by a noisy classifier: what one unit can change, what all steps cost, and what the classifier learns."""

import math
from dataclasses import replace

import numpy as np
import pytest
from private_records import KEY, Recorder, silent

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget, delta_of
from memaudit.privacy.learned_labels import COARSE, FINE, FINE_FROM, SENSITIVITY, contribution, trained, untrained
from memaudit.privacy.noisy_moments import release_moments
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.tabpate_release import Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS

COLUMNS = (Column("a", (-3.0, 3.0)), Column("job", ("cook", "nurse", "pilot")), Column("b", (-3.0, 3.0)))
PUBLIC = Public("toy", "made up", 300, "classification", COLUMNS, Column("target", ("x", "y", "z")))
ODD = np.float32([[np.nan, np.nan, np.inf], [1e30, 7, -1e30], [3, 2, -3], [0, 0, 0]])


def crossed(count, seed=0):
    """Records whose class is whether two columns have the same sign: their means say nothing."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=count), rng.integers(0, 3, count), rng.normal(size=count)]).astype(np.float32)
    return x, (x[:, 0] * x[:, 2] > 0).astype(np.int64)


def private(x, y, units=None):
    return Private(x, y, units or [str(number) for number in range(len(x))], KEY, PUBLIC)


def classifier(table, sigma=1e-3, noise=silent, moments=None):
    moments = moments or moments_of(table)
    return trained(table, moments, (1.0, sigma), np.random.default_rng(2), noise)


def moments_of(table):
    return release_moments(table, 1.0, clip=1.0, by_class=True, noise=silent)


def sums(table, moments, sigma=1.0):
    """Sums before noise of each step, with the same noisy answers before it."""
    noise = Recorder()
    classifier(table, sigma, lambda center, sigma: 0 * noise(center, sigma), moments)
    return noise


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sigma", [1.0, 1e-3], ids=["few steps", "many"])
def test_a_unit_changes_every_sum_by_at_most_the_sensitivity(seed, sigma):
    x, y = crossed(60, seed)
    x[:4] = ODD
    y[1] = 9  # of no class
    moments = moments_of(private(x, y))
    whole, rng = sums(private(x, y), moments, sigma), np.random.default_rng(seed)
    for left in (0, 1, 2, 3, *rng.choice(60, 4, replace=False)):
        rest = np.arange(60) != left
        units = [str(number) for number in np.flatnonzero(rest)]
        without = sums(private(x[rest], y[rest], units), moments, sigma)
        for one, other in zip(whole.centers, without.centers, strict=True):
            assert 0 < sum(int(change) ** 2 for change in (one - other).ravel()) <= 2 * STEPS**2


def test_a_unit_of_many_rows_changes_no_more_than_one_row():
    x, y = crossed(60)
    x[:30], y[:30] = x[0], y[0]
    moments = moments_of(private(x, y))
    units = ["many"] * 30 + [str(number) for number in range(30)]
    whole, without = sums(private(x, y, units), moments), sums(private(x[30:], y[30:], units[30:]), moments)
    for one, other in zip(whole.centers, without.centers, strict=True):
        assert sum(int(change) ** 2 for change in (one - other).ravel()) <= 2 * STEPS**2


def test_a_confident_mistake_nearly_reaches_the_sensitivity():
    """The bound is not loose: a half of it would be refuted."""
    x, y = crossed(40)
    start = untrained(PUBLIC, moments_of(private(x, y)), 1.0, 1.0, np.random.default_rng(0))
    [record] = start.entries(x[:1])
    features = start.features(record)
    largest = contribution(features, np.array([50.0, 0.0, 0.0]), 1, start.weights)
    assert 0.75 * SENSITIVITY < np.linalg.norm(largest) <= SENSITIVITY
    assert np.linalg.norm(start.features(np.full_like(record, 1e3))) <= 1


@pytest.mark.parametrize(("sigma", "regime"), [(1e3, COARSE), (1e-3, FINE)])
def test_all_steps_cost_what_a_single_one_would(sigma, regime):
    x, y = crossed(100)
    noise = sums(private(x, y), moments_of(private(x, y)), sigma)
    assert len(noise.sigmas) == regime[0]
    assert sum(SENSITIVITY**2 / (2 * (one / STEPS) ** 2) for one in noise.sigmas) == pytest.approx(1 / sigma**2)
    single = delta_of(1.0, [(1, SENSITIVITY * STEPS, 6.0 * STEPS)])
    steps = delta_of(1.0, [(regime[0], SENSITIVITY * STEPS, 6.0 * math.sqrt(regime[0]) * STEPS)])
    assert steps == pytest.approx(single, rel=0.02)


def test_the_number_of_steps_follows_from_released_numbers_alone():
    x, y = crossed(100)
    moments = moments_of(private(x, y))
    empty = sums(private(x[:1], y[:1]), replace(moments, count=moments.count * 10), sigma=1000 / FINE_FROM * 0.9)
    assert len(empty.sigmas) == FINE[0]


def test_it_learns_what_moments_cannot_hold_and_noise_hides_it():
    table, (x, y) = private(*crossed(1500)), crossed(400, seed=1)
    moments = moments_of(table)
    naive = untrained(PUBLIC, moments, 1.0, 1.0, np.random.default_rng(2)).logits(x).argmax(1)
    rng = np.random.default_rng(3)
    noisy = classifier(table, 1e5, lambda center, sigma: center + rng.normal(0, sigma, center.shape), moments)
    assert (naive == y).mean() < 0.65
    assert (classifier(table, 1.0, moments=moments).logits(x).argmax(1) == y).mean() > 0.85
    assert (noisy.logits(x).argmax(1) == y).mean() < 0.65


LEARNED = Settings(queries=200, prior="moments", alpha=0.6, by_class=True, narrowed=True, labels="learned")


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_a_release_charges_for_moments_and_steps_and_fills_its_budget(epsilon):
    plan, noise = planned(LEARNED, Budget(epsilon, 1e-5), PUBLIC), Recorder()
    released = TabPATE(private(*crossed(300)), None, np.random.default_rng(1), noise).release(
        LEARNED, Budget(epsilon, 1e-5)
    )
    moved = [math.sqrt(4)] * 2 + [SENSITIVITY] * (len(noise.sigmas) - 2)
    spent = [(1, sensitivity * STEPS, sigma) for sensitivity, sigma in zip(moved, noise.sigmas, strict=True)]
    assert 0.7e-5 < delta_of(epsilon, spent) <= 1e-5
    assert plan.guarantee(PUBLIC).rho == pytest.approx(sum((s / sigma) ** 2 / 2 for _, s, sigma in spent), rel=1e-6)
    assert len(released.y) == 200
    assert released.statement["classifier"] == {"sigma": plan.learned}


@pytest.mark.parametrize(
    "changed", [{"alpha": 1.0}, {"by_class": False}, {"accounting": "as_published"}, {"prior": "uniform"}]
)
def test_settings_that_leave_nothing_to_learn_with_are_refused(changed):
    with pytest.raises(AuditError, match="learned"):
        planned(replace(LEARNED, **changed), Budget(1.0, 1e-5), PUBLIC)


def test_a_number_target_is_refused():
    number = replace(PUBLIC, task="regression", target=Column("target", (0.0, 1.0)))
    with pytest.raises(AuditError, match="learned"):
        planned(LEARNED, Budget(1.0, 1e-5), number)
