"""Rows are matched up to maps of the columns, and never to another sample of the same population."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from memaudit.scanning.array_columns import candidates
from memaudit.scanning.inert_objects import Place
from memaudit.scanning.object_walk import Found
from memaudit.scanning.own_table import Column
from memaudit.scanning.row_matches import matches


def columns(matrix):
    return [Column(f"c{place}", values, True, []) for place, values in enumerate(np.asarray(matrix, float).T)]


def found(table, array):
    held = [one for one in candidates(Found(Place(""), array)) if len(one.values) == len(array)]
    return next(iter(matches(columns(table), held)), None)


def grid(seed, rows=400):
    """Records of few different values, as a table of integers has them: some occur several times."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.poisson(mean, rows) for mean in (9, 5, 14, 3)]).astype(float)


def continuous(seed, rows=300):
    """Correlated numbers, one a function of another."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=rows).round(4)
    second = (first + 0.3 * rng.normal(size=rows)).round(4)
    return np.column_stack([first, second, 2 * first + 1, (first > 0).astype(float)])


@pytest.mark.parametrize("draw", [grid, continuous])
def test_all_rows_in_order_are_found_after_increasing_maps(draw):
    table = draw(0)
    match = found(table, np.column_stack([np.exp(table[:, 1] / 10), -table[:, 0]]))
    assert len(match.rows) == len(table)
    assert "order" in match.how


@pytest.mark.parametrize("draw", [grid, continuous])
def test_a_shuffled_part_is_found_by_its_values(draw):
    table = draw(0)
    part = np.random.default_rng(1).permutation(len(table))[: len(table) // 2]
    match = found(table, table[part])
    assert len(match.rows) >= 0.6 * len(part)
    if draw is continuous:
        assert set(match.rows) <= set(part)


@pytest.mark.parametrize("draw", [grid, continuous])
@pytest.mark.parametrize("rows", [300, 400, 3000])
def test_other_samples_of_the_population_are_not_found(draw, rows):
    for seed in range(1, 11):
        assert found(draw(0), draw(seed, rows)) is None


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
@pytest.mark.parametrize("scaled", [False, True])
def test_one_half_of_a_table_is_not_found_in_the_other(load, scaled):
    """Real values: iris has few, so that the halves share rows."""
    whole = np.column_stack(load(return_X_y=True))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(whole))
        own, other = whole[order[: len(order) // 2]], whole[order[len(order) // 2 :]]
        maps = (lambda rows: (rows - rows.mean(0)) / rows.std(0)) if scaled else (lambda rows: rows)
        assert found(own, maps(other).astype("float32")) is None
        assert found(own, maps(own).astype("float32")) is not None


def test_rows_that_are_sorted_alike_are_not_found():
    """Sorted by a column, two samples of the same population have about the same ranks and runs of it."""
    table, other = (np.array(sorted(grid(seed).tolist())) for seed in (0, 1))
    assert found(table, other) is None
