"""The attacks of an audit on planted score matrices."""

import numpy as np
import pytest
from attack_grids import MEMBERS, RECORDS, SETS, TARGETS, passive, perturbed, poisoned

from memaudit.data import membership_matrices
from memaudit.statistics import audit_cases


@pytest.fixture
def grid():
    return audit_cases.first_variant(passive(np.random.default_rng(0)))


def test_correctness_is_attacked_only_if_the_adversary_reads_labels(grid):
    cases = list(audit_cases.passive(grid, "main", ["labels", "probabilities"]))
    assert [case.name for case in cases] == ["lira", "correctness"]
    assert [case.name for case in audit_cases.passive(grid, "main", ["probabilities"])] == ["lira"]
    for case in cases:
        assert case.attack.signals.shape == case.design.shape == (SETS, MEMBERS)
        assert case.keys["records"] == "members"


def test_a_smaller_model_is_compared_on_as_many_shadow_contexts(grid):
    case = audit_cases.main_alike(grid, grid.isel(model=slice(16)), "wine", "model_2")
    assert case.design.shape == (16, MEMBERS)
    assert (case.keys["model"], case.keys["records"]) == ("model_2", "main alike")


def test_attacks_on_targets_state_their_poisons_and_queries(grid):
    rng = np.random.default_rng(1)
    noisy = audit_cases.perturbation(perturbed(grid, rng), "wine", {"scale": 0.1, "count": 20})
    assert (noisy.name, noisy.queries, noisy.design.shape) == ("perturbation", 21, (SETS, TARGETS))
    matrix = poisoned(grid, rng)
    cases = list(audit_cases.active(matrix, "wine"))
    assert [(case.name, case.keys["poison"]) for case in cases] == [("lira", 0), ("lira poisoned", 2), ("brainwash", 0)]
    assert cases[-1].queries == float(matrix.passes.mean())


def test_the_negative_control_draws_membership_of_non_members_by_unit(grid):
    units = np.where(grid.member, grid.unit, grid.unit // 2)
    control = audit_cases.negative_control(grid.assign_coords(unit=("record", units)), np.random.default_rng(2))
    assert control.design.shape == (SETS, RECORDS - MEMBERS)
    assert (control.design[:, ::2] == control.design[:, 1::2]).all()
    assert (control.design[:, ::2].sum(0) == SETS // 2).all()
    drawn = membership_matrices.balanced(SETS, (RECORDS - MEMBERS) // 2, np.random.default_rng(2))
    np.testing.assert_array_equal(control.design[:, ::2], drawn)
