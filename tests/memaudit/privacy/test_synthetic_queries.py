"""Queries lie within the public bounds and lists, and follow the prior, or the moments, that they are drawn from."""

import numpy as np
import pytest
from private_records import silent

from memaudit.privacy.noisy_moments import Moments, release_moments
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.synthetic_queries import from_moments, gaussian, uniform
from memaudit.privacy.teacher_shards import Private

COLUMNS = (
    Column("age", (18.0, 90.0)),
    Column("job", ("cook", "nurse", "pilot")),
    Column("dose", (0.1, 0.3)),
    Column("one", ("same",)),
)
PUBLIC = Public("people", "made up", 100, "classification", COLUMNS, Column("target", ("a", "b", "c")))
LOWER, UPPER = PUBLIC.bounds
JOBS = np.array([[0.8, 0.2, 0.0], [0.0, 0.0, 1.0], [0.4, 0.3, 0.3]])


def rng():
    return np.random.default_rng(0)


def moments(count=(30.0, 10.0, 60.0), scale=100.0):
    """Exact moments of three groups: scaled means -0.5, 0, 0.25 and deviations 0.1, 0.2, 0.05 of both numbers."""
    sizes = np.maximum(np.array(count), 1)[:, None]
    mean, deviation = np.array([[-0.5], [0.0], [0.25]]), np.array([[0.1], [0.2], [0.05]])
    total, squares = np.tile(sizes * mean, 2), np.tile(sizes * (mean**2 + deviation**2), 2)
    return Moments(np.array(count), total, squares, (scale * JOBS, np.full((3, 1), scale)))


def noisy():
    """Moments that are noise alone."""
    draw = np.random.default_rng(1).normal
    return Moments(draw(0, 9, 3), draw(0, 9, (3, 2)), draw(0, 9, (3, 2)), (draw(0, 9, (3, 3)), draw(0, 9, (3, 1))))


DRAWN = {
    "uniform": lambda: uniform(PUBLIC, 4000, rng()),
    "gaussian": lambda: gaussian(PUBLIC, 4000, rng()),
    "moments": lambda: from_moments(moments(), PUBLIC, 4000, rng())[0],
    "noise": lambda: from_moments(noisy(), PUBLIC, 4000, rng())[0],
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_queries_are_encoded_records_within_bounds_and_lists(draw):
    x = draw()
    assert (x.shape, x.dtype) == ((4000, 4), np.float32)
    assert (np.float32(LOWER) <= x).all()
    assert (x <= np.float32(UPPER)).all()
    assert (x[:, [1, 3]] == np.floor(x[:, [1, 3]])).all()
    again, _, kept = PUBLIC.encode(PUBLIC.decode(x, np.zeros(len(x), int)))
    assert kept.all()
    np.testing.assert_array_equal(again, x)


def test_uniform_queries_fill_the_range_and_the_list():
    x = uniform(PUBLIC, 4000, rng())
    # Four standard errors: of a mean 0.018 of the range, of a share 0.03.
    np.testing.assert_allclose(PUBLIC.scaled(x)[:, [0, 2]].mean(0), 0, atol=0.037)
    np.testing.assert_allclose(PUBLIC.scaled(x)[:, [0, 2]].var(0), 1 / 3, rtol=0.06)
    np.testing.assert_allclose(np.bincount(x[:, 1].astype(int)) / 4000, 1 / 3, atol=0.03)


def test_gaussian_queries_have_a_quarter_of_the_range_as_deviation_and_are_clipped():
    scaled = PUBLIC.scaled(gaussian(PUBLIC, 4000, rng()))[:, [0, 2]]
    np.testing.assert_allclose(scaled.mean(0), 0, atol=0.032)
    # A normal variable that is clipped at two deviations has 0.9595 of its deviation; 4.55 % lie at the bounds.
    np.testing.assert_allclose(scaled.std(0), 0.5 * 0.9595, rtol=0.05)
    np.testing.assert_allclose((np.abs(scaled) > 1 - 1e-6).mean(0), 0.0455, atol=0.014)
    jobs = np.bincount(gaussian(PUBLIC, 4000, rng())[:, 1].astype(int)) / 4000
    np.testing.assert_allclose(jobs, 1 / 3, atol=0.03)


def test_queries_follow_the_moments_of_their_group():
    x, group = from_moments(moments(), PUBLIC, 20_000, rng())
    np.testing.assert_allclose(np.bincount(group) / 20_000, [0.3, 0.1, 0.6], atol=0.014)
    scaled = PUBLIC.scaled(x)[:, [0, 2]]
    # Within groups: 30 % with 0.1, 10 % with 0.2, 60 % with 0.05.
    deviation = np.sqrt(0.3 * 0.1**2 + 0.1 * 0.2**2 + 0.6 * 0.05**2)
    for number, mean in enumerate([-0.5, 0, 0.25]):
        inside = group == number
        np.testing.assert_allclose(scaled[inside].mean(0), mean, atol=4 * deviation / np.sqrt(inside.sum()))
        np.testing.assert_allclose(scaled[inside].std(0), deviation, rtol=0.07)
        assert abs(np.corrcoef(scaled[inside].T)[0, 1]) < 4 / np.sqrt(inside.sum())
        shares = np.bincount(x[inside, 1].astype(int), minlength=3) / inside.sum()
        np.testing.assert_allclose(shares, JOBS[number], atol=0.03)
        assert not shares[JOBS[number] == 0].any()


@pytest.mark.parametrize("count", [3000, 3001])
def test_equal_groups_are_drawn_as_often_whatever_their_shares_and_hold_the_same_records(count):
    x, group = from_moments(moments((300.0, -4.0, 6.0)), PUBLIC, count, rng(), equal=True)
    counts = np.bincount(group)
    assert counts.max() - counts.min() <= 1
    shares = np.bincount(x[group == 0, 1].astype(int), minlength=3) / counts[0]
    np.testing.assert_allclose(shares, JOBS[0], atol=0.04)
    assert len(np.unique(group[:10])) > 1, "classes are in no order"


def test_a_group_without_records_is_not_drawn_and_where_none_has_any_all_are():
    _, group = from_moments(moments((-4.0, 10.0, 0.0)), PUBLIC, 200, rng())
    assert set(group) == {1}
    x, group = from_moments(moments((-4.0, -1.0, 0.0), scale=-3.0), PUBLIC, 900, rng())
    np.testing.assert_allclose(np.bincount(group) / 900, 1 / 3, atol=0.07)
    np.testing.assert_allclose(np.bincount(x[:, 1].astype(int)) / 900, 1 / 3, atol=0.07)


def test_from_records_to_queries_without_noise_the_moments_come_back():
    draw = rng()
    y = draw.choice(3, 3000, p=[0.3, 0.1, 0.6])
    records = uniform(PUBLIC, 3000, draw)
    records[:, 0] = draw.normal(40 + 10 * y, 5)
    private = Private(records, y, [f"{number:032x}" for number in range(3000)], b"", PUBLIC)
    released = release_moments(private, 1.0, clip=2**0.5, by_class=True, noise=silent)
    x, group = from_moments(released, PUBLIC, 3000, draw)
    for number in range(3):
        assert x[group == number, 0].mean() == pytest.approx(40 + 10 * number, abs=1.7)
        assert x[group == number, 0].std() == pytest.approx(5, rel=0.2)


def test_the_generator_alone_decides():
    for draw in DRAWN.values():
        np.testing.assert_array_equal(draw(), draw())
    assert (uniform(PUBLIC, 50, np.random.default_rng(1)) != uniform(PUBLIC, 50, rng())).any()
