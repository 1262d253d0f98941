"""A choice among candidates exhausts the budget with the rho stated for a run."""

import math

import numpy as np
import pytest

from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.private_selection import with_chance
from memaudit.privacy.renyi_conversion import epsilon_of_rdp
from memaudit.studies.mechanism_costs.selection_costs import CHANCE, DELTA, ORDERS, SHAPES, rows


@pytest.fixture(scope="module")
def found():
    return {(row["candidates"], row["way"]): row for row in rows()}


def test_paying_for_all_divides_the_budget(found):
    for count in (3, 10):
        assert found[count, "all candidates"]["share"]["1"] == pytest.approx(1 / count, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_share_of_a_run_exhausts_the_budget(found, shape):
    row, selection = found[3, shape], with_chance(3, CHANCE, SHAPES[shape])
    run = ORDERS * row["share"]["1"] * rho_within(Budget(1.0, DELTA))
    assert epsilon_of_rdp(ORDERS, selection.repetitions.rdp(ORDERS, run), DELTA).min() == pytest.approx(1.0)
    assert row["chance"] == pytest.approx(CHANCE)
    assert 1 < row["total"]["1"] < row["total"]["10"] < math.inf


def test_many_candidates_are_cheaper_by_a_random_number_of_runs(found):
    assert found[10, "geometric"]["share"]["10"] > 2 * found[10, "all candidates"]["share"]["10"]
    assert np.isclose(found[10, "geometric"]["runs"], 81)
