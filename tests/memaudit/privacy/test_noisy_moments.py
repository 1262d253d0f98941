"""Noisy moments: what one record can change, counted in integers, and what the moments say of the records."""

from itertools import product

import numpy as np
import pytest
from private_records import Recorder, silent

from memaudit.common.errors import AuditError
from memaudit.privacy.noisy_moments import Moments, lattice_vectors, moments_sensitivity, release_moments
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS

AGE, DOSE = Column("age", (18.0, 90.0)), Column("dose", (-1.0, 3.0))
JOB, CITY = Column("job", ("cook", "nurse", "pilot")), Column("city", ("Bonn", "Ulm"))
CLASSES, RANGE = Column("target", ("a", "b", "c")), Column("target", (0.0, 10.0))
LOWER, UPPER = np.float32(-3e38), np.float32(3e38)


def table(*columns, target=CLASSES):
    task = "classification" if target is CLASSES else "regression"
    return Public("people", "made up", 100, task, columns, target)


MIXED = table(AGE, JOB, DOSE, CITY)
NUMBERS = table(AGE, DOSE, target=RANGE)
CODES = table(JOB, CITY)


def odd(public, rng, n=60):
    """Records at, between and beyond the bounds, missing, infinite, and with codes of no category; any targets."""
    x = rng.choice(
        np.float32([18, 54, 90, -1, 1, 3, 0, 2, 0.5, LOWER, UPPER, np.inf, np.nan]), (n, len(public.columns))
    )
    y = rng.integers(-1, 5, n) if public.task == "classification" else rng.choice([0.0, 4.9, 10.0, -7.0, 99.0], n)
    return x, y


def ids(records):
    return [f"{number:032x}" for number in range(len(records))]


def private(x, y, public, units=None):
    """Private records; by default each is a unit of its own."""
    return Private(x, y, units or ids(x), b"", public)


def exact(x, y, public, *, units=None, **options):
    """Moments without noise; each record is a unit of its own."""
    return release_moments(private(x, y, public, units), 1.0, noise=silent, **options)


def released(public, x, y, clip, by_class, units=None):
    """The sums before noise, in lattice steps."""
    noise = Recorder()
    release_moments(private(x, y, public, units), 1.0, clip=clip, by_class=by_class, noise=noise)
    return noise.centers[0]


# --- sensitivity -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clip", [0.3, 1.0, 1.2, 2**0.5, 9.0])
@pytest.mark.parametrize(("public", "blocks"), [(MIXED, 4), (NUMBERS, 3), (CODES, 2)])
@pytest.mark.parametrize("by_class", [True, False])
def test_removing_any_record_moves_the_moments_by_at_most_the_sensitivity(public, blocks, clip, by_class):
    x, y = odd(public, np.random.default_rng(0))
    whole = released(public, x, y, clip, by_class)
    assert whole.dtype == np.int64
    for removed in range(len(x)):
        rest = released(public, np.delete(x, removed, axis=0), np.delete(y, removed), clip, by_class)
        # Squares of whole numbers are added as such: no tolerance.
        assert ((whole - rest) ** 2).sum() <= blocks * STEPS**2
    assert moments_sensitivity(public) ** 2 == pytest.approx(blocks)


@pytest.mark.parametrize("clip", [0.3, 1.2, 9.0])
@pytest.mark.parametrize(("public", "blocks"), [(MIXED, 4), (NUMBERS, 3), (CODES, 2)])
def test_removing_a_unit_of_many_records_moves_them_no_more_than_one_record(public, blocks, clip):
    x, y = odd(public, np.random.default_rng(5), 90)
    x[:30], y[:30] = np.float32([18, 2, 3, 1])[: x.shape[1]], y[0] if y[0] >= 0 else 0
    units = np.array(ids(range(10)))[np.r_[np.zeros(30, int), np.random.default_rng(6).integers(1, 10, 60)]]
    whole = released(public, x, y, clip, True, list(units))
    for unit in set(units):
        rest = units != unit
        changed = whole - released(public, x[rest], y[rest], clip, True, list(units[rest]))
        assert (changed**2).sum() <= blocks * STEPS**2


def test_a_unit_counts_as_one_record_however_many_it_has():
    x = np.float32([[18, 3], [90, 3], [90, 3]])
    moments = exact(x, np.array([1.0, 1.0, 9.0]), NUMBERS, units=["a", "a", "b"], clip=9.0, by_class=True)
    np.testing.assert_allclose(moments.count, [1, 0, 0, 0, 1])
    np.testing.assert_allclose(moments.total[[0, 4]], [[0, 1], [1, 1]], atol=1e-4)


@pytest.mark.parametrize(("clip", "record"), [(0.3, [90, 1]), (1.0, [90, 1]), (2**0.5, [18, 3])])
def test_an_extreme_record_comes_as_close_to_the_sensitivity_as_the_lattice_allows(clip, record):
    vector = lattice_vectors(np.float32([record]), ["a"], NUMBERS, clip)
    assert np.linalg.norm(vector) / STEPS == pytest.approx(moments_sensitivity(NUMBERS), rel=1e-5)
    vector = lattice_vectors(np.float32([[2, 1]]), ["a"], CODES, clip)
    assert np.linalg.norm(vector) / STEPS == pytest.approx(moments_sensitivity(CODES), rel=1e-5)


@pytest.mark.parametrize("numbers", [1, 7, 200])
@pytest.mark.parametrize("clip", [0.5, 1.0, 3.3])
def test_no_rounding_makes_a_block_longer_than_one_record(numbers, clip):
    public = table(*(Column(f"x{i}", (-1.0, 1.0)) for i in range(numbers)))
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(0, 1, (3000, numbers)), rng.choice([-1, 1], (200, numbers)), np.eye(numbers)])
    vectors = lattice_vectors(x.astype(np.float32), ids(x), public, clip)
    assert (vectors[:, 0] == STEPS).all()
    for block in np.split(vectors[:, 1:], 2, axis=1):
        norms = (block**2).sum(1)
        assert norms.max() <= STEPS**2
    assert (vectors[:, 1 : numbers + 1] ** 2).sum(1).max() > 0.99 * STEPS**2 * min(1, numbers / clip**2)


def test_a_record_changes_the_block_of_its_own_class_alone():
    rng = np.random.default_rng(2)
    for public, targets in ((MIXED, [0, 1, 2]), (NUMBERS, [1.0, 3.0, 5.0, 7.0, 10.0])):
        x, _ = odd(public, rng, len(targets))
        whole = released(public, x, np.array(targets), 1.0, True)
        assert len(whole) == len(targets)
        for group in range(len(targets)):
            rest = released(public, np.delete(x, group, axis=0), np.delete(targets, group), 1.0, True)
            changed = (whole != rest).any(1)
            assert np.flatnonzero(changed).tolist() == [group]


# --- noise -------------------------------------------------------------------------------------------------------


def test_the_noise_has_the_requested_deviation_in_every_moment():
    """The true noise, on no records: each kind of moment is off by sigma records, weighted as its block is."""
    sigma, clip = 3.0, 2**0.5
    draws = []
    for _ in range(60):
        empty = private(np.empty((0, 4), np.float32), np.empty(0, np.int64), MIXED)
        moments = release_moments(empty, sigma, clip=clip, by_class=True)
        draws.append([moments.count, moments.total / clip, moments.squares / clip, *moments.categories])
    for kind, scale in zip(zip(*draws, strict=True), [1, 1, 1, 2**0.5, 2**0.5], strict=True):
        values = np.stack(kind).ravel() / (sigma * scale)
        # 180 draws or more: six standard errors of a deviation are 0.32.
        assert values.std() == pytest.approx(1, abs=0.32)
        assert abs(values.mean()) < 6 / np.sqrt(len(values))


def test_noise_is_drawn_once_for_all_moments_in_lattice_steps():
    noise = Recorder()
    x, y = odd(MIXED, np.random.default_rng(3))

    release_moments(private(x, y, MIXED), 2.5, clip=1.0, by_class=True, noise=noise)
    assert [center.shape for center in noise.centers] == [(3, 1 + 2 + 2 + 3 + 2)]
    assert noise.sigmas == [2.5 * STEPS]


# --- what they say -----------------------------------------------------------------------------------------------


def usual(rng, n=400):
    job, city = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, n)
    x = np.column_stack([rng.uniform(18, 90, n), job, rng.normal(1, 0.3, n).clip(-1, 3), city]).astype(np.float32)
    return x, rng.choice(3, n, p=[0.7, 0.2, 0.1])


@pytest.mark.parametrize("by_class", [True, False])
def test_without_noise_the_moments_are_those_of_the_records(by_class):
    x, y = usual(np.random.default_rng(4))
    moments = exact(x, y, MIXED, clip=2**0.5, by_class=by_class)
    groups = [y == group for group in range(3)] if by_class else [np.full(len(y), True)]
    scaled = np.column_stack([(x[:, 0] - 54) / 36, (x[:, 2] - 1) / 2])
    assert moments.count.tolist() == [inside.sum() for inside in groups]
    within = sum(scaled[inside].var(0) * inside.sum() for inside in groups) / len(y)
    np.testing.assert_allclose(moments.deviation(), np.sqrt(within), atol=1e-4)
    for group, inside in enumerate(groups):
        # Rounding errs by less than one step a record.
        np.testing.assert_allclose(moments.mean()[group], scaled[inside].mean(0), atol=2 / STEPS)
        for shares, column in zip(moments.shares(), (1, 3), strict=True):
            expected = np.bincount(x[inside, column].astype(int), minlength=shares.shape[1]) / inside.sum()
            np.testing.assert_allclose(shares[group], expected, atol=1e-9)
    np.testing.assert_allclose(moments.group_shares(), moments.count / 400)


def test_a_number_target_can_be_one_more_column():
    x, y = np.float32([[18, -1], [90, 3]]), np.array([0.0, 7.5])
    moments = exact(np.column_stack([x, y]).astype(np.float32), y, NUMBERS.with_target(), clip=3**0.5, by_class=False)
    np.testing.assert_allclose(moments.mean()[0], [0, 0, -0.25], atol=1e-5)
    assert moments_sensitivity(table(JOB, target=RANGE).with_target()) == 2


def test_bins_part_the_public_range_of_a_number_target():
    y = np.array([0.0, 1.9, 2.0, 9.9, 10.0, 5.0])
    x = np.full((6, 2), 1, np.float32)
    moments = exact(x, y, NUMBERS, clip=1.0, by_class=True)
    assert moments.count.tolist() == [2, 1, 1, 0, 2]
    moments = exact(x, y, NUMBERS, clip=1.0, by_class=True, bins=2)
    assert moments.count.tolist() == [3, 3]


def test_long_vectors_are_clipped_to_the_norm_and_short_ones_are_not():
    x = np.float32([[90, 3], [54, 2]])
    moments = exact(x, np.zeros(2), NUMBERS, clip=0.8, by_class=False)
    corner = 0.8 / np.sqrt(2)
    np.testing.assert_allclose(moments.total[0], [corner, corner + 0.5], atol=1e-5)
    np.testing.assert_allclose(moments.squares[0], [0.32, 0.32 + 0.25], atol=1e-5)
    with pytest.raises(AuditError, match="clip is 0"):
        exact(x, np.zeros(2), NUMBERS, clip=0, by_class=False)


def test_a_missing_number_counts_as_the_middle_and_a_missing_category_as_none():
    x = np.float32([[np.nan, np.nan, 3, 1], [90, 2, np.nan, np.nan]])
    moments = exact(x, np.zeros(2, int), MIXED, clip=2**0.5, by_class=False)
    np.testing.assert_allclose(moments.total[0], [1, 1], atol=1e-5)
    np.testing.assert_allclose(moments.categories[0], [[0, 0, 1]], atol=1e-5)
    np.testing.assert_allclose(moments.categories[1], [[0, 1]], atol=1e-5)


def test_noise_never_makes_a_moment_that_cannot_be():
    for count, total, square in product([-50.0, 0.0, 0.4, 30.0], [-90.0, 0.0, 90.0], [-9.0, 0.0, 900.0]):
        moments = Moments(np.array([count]), np.array([[total]]), np.array([[square]]), ())
        mean, deviation = moments.mean().item(), moments.deviation().item()
        assert -1 <= mean <= 1
        assert 0 <= deviation <= np.sqrt(1 - mean**2)
        assert moments.group_shares().tolist() == [1]


def test_negative_counts_are_none_and_equal_shares_are_taken_where_nothing_is_left():
    counts = np.array([[3.0, -2.0, 1.0], [-1.0, -5.0, 0.0]])
    moments = Moments(np.array([8.0, -3.0]), np.zeros((2, 0)), np.zeros((2, 0)), (counts,))
    np.testing.assert_allclose(moments.shares()[0], [[0.75, 0, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    assert moments.group_shares().tolist() == [1, 0]
    assert Moments(-np.ones(4), np.zeros((4, 0)), np.zeros((4, 0)), ()).group_shares().tolist() == [0.25] * 4
