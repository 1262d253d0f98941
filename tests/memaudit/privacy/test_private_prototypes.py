"""DP-TabICL's prototypes: disjoint parts, sums that a unit moves by the stated amount, means by hand without noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from private_records import KEY, Recorder, silent

from memaudit.common.errors import AuditError
from memaudit.privacy.private_prototypes import lattice_vectors, parts_of, release_prototypes, sensitivity
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_shards import Private, shards_of
from memaudit.privacy.unit_lattice import STEPS

COLUMNS = (Column("age", (18.0, 90.0)), Column("job", ("cook", "nurse", "vet")), Column("wage", (-5.0, 5.0)))
PUBLIC = Public("people", "made up", 60, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (0.0, 100.0)))
UNITS = [f"unit {number}" for number in range(60)]


def table(public=PUBLIC):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(18, 90, 60), rng.integers(0, 3, 60), rng.uniform(-5, 5, 60)]).astype(np.float32)
    x[rng.random(x.shape) < 0.05] = np.nan
    x[:4] = [[18, 0, -5], [90, 2, 5], [90, 1, -5], [np.nan, np.nan, np.nan]]
    y = rng.integers(0, 2, 60) if public.task == "classification" else rng.uniform(0, 100, 60)
    return x, y


def private():
    return Private(*table(), UNITS, KEY, PUBLIC)


def released_sums(x, y, units, public=PUBLIC, prototypes=6):
    """The sums before noise, in records, and the scale of the noise."""
    noise = Recorder()
    release_prototypes(Private(x, y, units, KEY, public), 2.0, prototypes, noise=noise)
    return noise.centers[0] / STEPS, noise.sigmas[0] / STEPS


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_removing_one_record_moves_one_part_by_at_most_the_sensitivity(public):
    x, y = table(public)
    whole, _ = released_sums(x, y, UNITS, public, 12)
    moved = []
    for place in range(60):
        rest = np.arange(60) != place
        sums, _ = released_sums(x[rest], y[rest], [UNITS[i] for i in np.flatnonzero(rest)], public, 12)
        assert np.count_nonzero((whole != sums).any(1)) == 1
        moved.append(np.abs(whole - sums).sum())
    assert sensitivity(public) == 1 + 3
    assert max(moved) == sensitivity(public)
    assert moved[3] == 1, "of a record that misses every value only the count remains"


def test_removing_a_unit_of_several_records_moves_the_sums_by_no_more():
    x, y = table()
    x[:7], units = [90, 2, 5], ["person"] * 7 + UNITS[7:]
    y[:7] = [0, 1, 0, 1, 1, 0, 1]
    moved = np.abs(released_sums(x, y, units)[0] - released_sums(x[7:], y[7:], units[7:])[0]).sum()
    assert 0.9999 * sensitivity(PUBLIC) < moved <= sensitivity(PUBLIC)


def test_no_value_breaks_the_bound():
    x = np.array([[1e30, 7, -1e30], [-np.inf, -1, np.inf], [np.nan, 0.5, 0]], dtype=np.float32)
    assert (np.abs(lattice_vectors(x, ["a", "b", "c"], PUBLIC)).sum(1) <= sensitivity(PUBLIC) * STEPS).all()


def test_noise_has_the_scale_of_the_laplace_mechanism():
    assert released_sums(*table(), UNITS)[1] == pytest.approx(sensitivity(PUBLIC) / 2.0)


def test_noise_is_drawn_afresh_for_each_release():
    first, second = (release_prototypes(private(), 1.0, 6)[0] for _ in range(2))
    assert (first[:, 0] != second[:, 0]).sum() >= 4


def test_prototypes_without_noise_are_means_and_commonest_categories_by_hand():
    x, y = table()
    released, labels = release_prototypes(private(), 1.0, 5, noise=silent)
    frame = pd.DataFrame(x, columns=["age", "job", "wage"]).fillna({"age": 54, "wage": 0})
    # The remainder goes to the first class: three parts of it, two of the other.
    shards = [shards_of([unit], KEY, 3 if label == 0 else 2)[0] for unit, label in zip(UNITS, y, strict=True)]
    parts = frame.groupby([y, shards])
    assert labels.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(released[:, [0, 2]], parts[["age", "wage"]].mean(), atol=1e-3)
    histograms = parts["job"].value_counts().unstack(fill_value=0).to_numpy()
    assert (np.take_along_axis(histograms, released[:, [1]].astype(int), 1)[:, 0] == histograms.max(1)).all()
    assert released.dtype == np.float32


def test_prototypes_of_much_noise_stay_within_the_public_bounds():
    x, _ = release_prototypes(private(), 1e-4, 6)
    lower, upper = PUBLIC.bounds
    assert ((x >= lower) & (x <= upper)).all()
    assert set(x[:, 1]) <= {0, 1, 2}


def test_a_generous_budget_finds_the_classes_and_a_tiny_one_does_not():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = np.column_stack([54 + 30 * (2 * y - 1), 2 * y, rng.uniform(-5, 5, 400)]).astype(np.float32)
    units = list(map(str, range(400)))
    near, labels = release_prototypes(Private(x, y, units, KEY, PUBLIC), 10.0, 8)
    np.testing.assert_allclose(near[:, 0], 54 + 30 * (2 * labels - 1), atol=8)
    assert (near[:, 1] == 2 * labels).all()
    far, labels = release_prototypes(Private(x, y, units, KEY, PUBLIC), 1e-3, 40)
    assert np.abs(far[:, 0] - 54 - 30 * (2 * labels - 1)).max() > 25


def test_a_number_target_is_parted_by_equal_intervals_and_labelled_by_their_middles():
    y = np.array([0.0, 24.9, 25.0, 60.0, 100.0])
    parts, labels = parts_of(Private(None, y, UNITS[:5], KEY, RENTS), 4, 4)
    assert parts.tolist() == [0, 0, 1, 2, 3]
    assert labels.tolist() == [12.5, 37.5, 62.5, 87.5]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("inf"), float("nan")])
def test_a_budget_without_a_guarantee_is_refused(epsilon):
    with pytest.raises(AuditError, match="epsilon"):
        release_prototypes(private(), epsilon, 6)


def test_fewer_prototypes_than_classes_are_refused():
    with pytest.raises(AuditError, match="1 prototypes cannot have 2 labels"):
        release_prototypes(private(), 1.0, 1)
