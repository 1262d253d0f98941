"""Ablations on planted score matrices: what is varied, and what a single value leaves out."""

import numpy as np
import pytest
from attack_grids import ATTACKS, MEMBERS, passive, perturbed, poisoned

from memaudit.attacks.score_matrices import variant
from memaudit.common import seeds, tidy
from memaudit.statistics.threat_models import against, judged, poisoning_cases
from memaudit.studies.attacks.attack_ablations import ablation_rows


@pytest.fixture(scope="module")
def matrices():
    """Score matrices of the usual contexts and of perturbed targets, and attacks on poisoned contexts."""
    rng = np.random.default_rng(0)
    grid = passive(rng)
    keys = {"dataset": grid.dataset, "arm": "text", "model": "m", "records": "targets"}
    return variant(grid, "usual"), perturbed(grid, rng), list(poisoning_cases(keys, poisoned(grid, rng)))


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


def test_a_budget_and_the_attack_with_as_many_poisons_have_one_interval(matrices):
    """The table of attacks and the figure of budgets show one quantity."""
    table = ablated(matrices)
    budgets = table[table["ablation"] == "poison budget"].set_index(["metric", "value"])
    none, some = (one for one in matrices[2] if one.name != "brainwash")
    stream = "attacks", *some.keys.values()
    own = tidy.frame(list(judged(some, ATTACKS, seeds.generator(1, *stream)))).set_index("metric")
    less = tidy.frame(list(against(some, none, ATTACKS, seeds.generator(1, *stream, "less", "lira")))).set_index(
        "metric"
    )
    for metric, of_attack in {"auc": own, "auc difference": less}.items():
        ends = ["estimate", "low", "high"]
        assert budgets.loc[(metric, 2), ends].tolist() == of_attack.loc[metric, ends].tolist()
