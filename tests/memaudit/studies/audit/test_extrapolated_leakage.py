"""Rows of the leakage by number of contexts and by size of a context."""

import numpy as np
import xarray as xr
from attack_grids import MEMBERS, SETS, passive
from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.summaries import summarize_results
from memaudit.common import tidy
from memaudit.studies.audit import audit_attacks, extrapolated_leakage

THREATS = ["labels", "probabilities"]


def test_each_number_of_contexts_has_a_row_and_the_limit_or_its_reason():
    grid = audit_attacks.first_variant(passive(np.random.default_rng(0)))
    panel = audit_attacks.panels(grid, THREATS, ATTACKS["rmia"])["members"]
    rows = extrapolated_leakage.growth_rows(panel, "lira", True, {"dataset": "wine"}, 20, np.random.default_rng(0))
    found = summarize_results.growth(tidy.frame(list(rows)))
    assert [one.number for one in found.measured] == [8, 16, 32]
    assert (found.score, found.contexts, found.to, found.auc) == ("lira", SETS, None, None)
    assert "too few" in found.reason


def sizes(smaller, deployed):
    grid = audit_attacks.first_variant(passive(np.random.default_rng(0)))
    audit, rng = AUDIT | {"threats": THREATS}, np.random.default_rng(0)
    rows = extrapolated_leakage.size_rows(grid, smaller, deployed, audit, 40, rng)
    return summarize_results.deployed(tidy.frame(list(rows)), "lira")


def test_smaller_contexts_are_measured_with_as_many_contexts():
    halves = [passive(np.random.default_rng(seed)).isel(model=slice(16)) for seed in (1, 2)]
    for part, left_out in zip(halves, (16, 24), strict=True):
        part["variant"] = ("model", [f"context {(MEMBERS - left_out) // 2}"] * 16)
        part["logits"] = part.logits.where(part["rank"] < MEMBERS - left_out)
    found = sizes(xr.concat(halves, "model", data_vars="minimal", combine_attrs="override"), 60)
    assert (found.contexts, found.to) == (16, 60)
    numbers = [one.number for one in found.measured]
    assert numbers == sorted(numbers)
    assert len(numbers) == 3
    assert numbers[-1] == MEMBERS // 2


def test_the_first_stage_measures_one_size_and_says_so():
    found = sizes(None, 15)
    assert [one.number for one in found.measured] == [15]
    assert found.auc is None
    assert "fewer than 3 sizes" in found.reason
