"""Simulations are reproducible and resumable, and the cheap ones hold at a small size."""

import pytest
from scipy.stats import binom

from memaudit.statistics import bootstrap
from memaudit.studies.coverage import coverage_simulation
from memaudit.studies.coverage.coverage_registry import CASES, HIGH, LOW, NOMINAL
from memaudit.studies.coverage.coverage_simulation import described, is_current, simulate

pytestmark = pytest.mark.long

# Cases of a millisecond or less for each data set.
CHEAP = ["student_t", "few_units", "mean_of_data_sets", "rank_correlation_of_points", "intraclass", "predicted_tpr"]
CHEAP += ["clopper_pearson", "mu_of_runs", "permutation_p", "max_t", "permuted_pairs", "signed_ranks"]
DATA_SETS = 150


@pytest.mark.parametrize("name", CHEAP)
def test_rates_are_compatible_with_what_is_stated(name):
    """No rate of 150 data sets is further from its limit than 1 in 10,000 would be by chance."""
    for row in simulate(name, DATA_SETS, 3)["rows"]:
        hits = round(row["rate"] * row["n"])
        if row["kind"] == "interval":
            assert binom.cdf(hits, row["n"], LOW) > 1e-4, row
        if row["kind"] != "interval":
            assert binom.sf(hits - 1, row["n"], 0.06) > 1e-4, row


@pytest.mark.parametrize("name", ["student_t", "few_units"])
def test_intervals_that_are_not_widened_fail_this_test(name, monkeypatch):
    monkeypatch.setattr(bootstrap, "for_skewed", lambda units: 1.0)
    monkeypatch.setattr(bootstrap, "_narrowness", lambda units: 1.0)
    plain = {row["scenario"]: row for row in simulate(name, 1000, 3)["rows"]}["skewed, 5 units"]
    assert binom.cdf(round(plain["rate"] * plain["n"]), plain["n"], LOW) < 1e-4


def test_a_case_does_not_depend_on_the_others_and_knows_its_settings():
    found = simulate("clopper_pearson", 20, 5)
    assert simulate("clopper_pearson", 20, 5)["rows"] == found["rows"] != simulate("clopper_pearson", 20, 6)["rows"]
    assert is_current(found, "clopper_pearson", 20, 5)
    assert not is_current(found, "clopper_pearson", 21, 5)
    assert not is_current(found | {"rows": found["rows"][1:]}, "clopper_pearson", 20, 5)
    assert LOW < NOMINAL < HIGH


def test_expensive_cases_are_simulated_less_often():
    name = next(name for name, case in CASES.items() if case.most == 200)
    assert is_current({"simulations": 200, "seed": 1, "rows": _rows(name)}, name, 1000, 1)


def test_every_case_stands_in_one_group():
    assert {described(name)["group"] for name in CASES} == coverage_simulation.GROUPS.keys()


def _rows(name):
    return [{"scenario": scenario} for scenario in CASES[name].scenarios]
