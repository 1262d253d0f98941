"""Rows of the page of audited releases."""

import pytest

from memaudit.studies.release_audit.measured_bounds import (
    CONDITIONS,
    NAMES,
    ONE_RUN,
    SHARED,
    is_current,
    judged,
    measure,
)

SIZES = {"runs": 200, "canaries": 100}


@pytest.mark.parametrize("name", ["votes: as released", "one release: as released"])
def test_a_row_has_what_is_promised_found_and_possible(name):
    row = measure(name, **SIZES)
    assert row["epsilon_promised"] == pytest.approx(2 if name in ONE_RUN else 1, rel=0.01)
    assert 0 <= row["mu_possible"] < row["mu_promised"]
    assert row["refuted"] == (row["mu_bound"] > row["mu_promised"])
    assert row["n"] == (100 if name in ONE_RUN else 150)
    assert is_current(name, row, **SIZES)
    assert not is_current(name, row, runs=201, canaries=101)


def test_all_bounds_hold_together():
    assert len(NAMES) == len(CONDITIONS) + 2
    assert pytest.approx(0.05 / 11) == SHARED


def test_a_row_is_judged_anew_by_its_rates_at_the_level_that_the_conditions_share():
    row = measure("votes: as released", **SIZES)
    assert {**row, **judged({**row, "mu_bound": 9.0, "mu_possible": 9.0, "refuted": True})} == row
