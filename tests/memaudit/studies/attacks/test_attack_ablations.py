"""Ablations on planted score matrices: what is varied, and what a single value leaves out."""

import numpy as np
import pytest
from attack_grids import ATTACKS, MEMBERS, passive, perturbed, poisoned

from memaudit.attacks.score_matrices import variant
from memaudit.common import tidy
from memaudit.studies.attacks.attack_ablations import ablation_rows


@pytest.fixture(scope="module")
def matrices():
    """Score matrices of the usual contexts, of perturbed targets and of poisoned contexts."""
    rng = np.random.default_rng(0)
    grid = passive(rng)
    return variant(grid, "usual"), perturbed(grid, rng), {"text": poisoned(grid, rng)}


def ablated(matrices, **settings):
    return tidy.expand(tidy.frame(ablation_rows(*matrices, ATTACKS | settings, seed=1)))


def test_fewer_shadow_contexts_are_the_first_of_them(matrices):
    table = ablated(matrices)
    sizes = table[(table["ablation"] == "shadow sets") & (table["metric"] == "auc")].set_index("value")
    assert sizes["n"].to_dict() == {16: 16 * MEMBERS, 32: 32 * MEMBERS}
    first = ablated([matrices[0].isel(model=slice(16)), *matrices[1:]])
    alone = first[(first["ablation"] == "shadow sets") & (first["metric"] == "auc")].set_index("value")
    assert alone.loc[16, "estimate"] == sizes.loc[16, "estimate"]


def test_poison_budgets_are_those_of_their_condition(matrices):
    table = ablated(matrices)
    budgets = table[table["ablation"] == "poison budget"]
    assert (set(budgets["arm"]), set(budgets["value"])) == ({"text"}, {0, 2})


def test_a_single_value_has_no_difference_between_ends(matrices):
    usual, noise, poisons = matrices
    one = noise.isel(setting=[1])
    table = ablated([usual, one, poisons])
    assert set(table.loc[table["metric"] == "auc difference", "ablation"]) == {"poison budget"}


def test_the_largest_budget_is_paired_with_the_smallest(matrices):
    table = ablated(matrices)
    budgets = table[table["ablation"] == "poison budget"].set_index(["metric", "value"])
    gap = budgets.loc[("auc difference", 2)]
    assert gap["less"] == 0
    assert gap["estimate"] == pytest.approx(budgets.loc[("auc", 2), "estimate"] - budgets.loc[("auc", 0), "estimate"])
    assert "common weights" in gap["method"]
