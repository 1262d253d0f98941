"""Planted lookups change what is queried about members, as such a model would answer, and nothing else."""

import numpy as np
import pytest
from attack_grids import passive, perturbed, poisoned, seen_inside

from memaudit.studies.audit import planted_lookups


@pytest.fixture(scope="module")
def grids():
    rng = np.random.default_rng(0)
    grid = passive(rng)
    return perturbed(grid, rng), poisoned(grid, rng), seen_inside(grid, rng)


def test_nothing_near_a_member_has_another_class(grids):
    grid, member = grids[0], grids[0].design.values
    made = planted_lookups.near_records(grid)
    for name, looked_up in {"distance": 1 - 2.0**-6, "correct": 1, "right": 1, "stable": 1}.items():
        assert (made[name].values[member] == looked_up).all()
        assert np.array_equal(made[name].values[~member], grid[name].values[~member])


def test_members_keep_their_class_in_spite_of_poisons(grids):
    grid, member = grids[1], grids[1].chosen_design.values
    made = planted_lookups.poisoned(grid)
    truth = np.broadcast_to(grid.target_label.values, member.shape)[member]
    assert (made.chosen_logits.values[member].argmax(-1) == truth[:, None, None]).all()
    assert np.array_equal(made.chosen_logits.values[~member], grid.chosen_logits.values[~member])


def test_the_whole_attention_of_a_member_is_on_one_row(grids):
    grid, member = grids[2], grids[2].design.values
    made = planted_lookups.attended(grid)
    assert (made.attention.sel(statistic="largest").values[member] == 0).all()
    assert (made.attention.sel(statistic="gap").values[member] == 40).all()
    assert np.array_equal(made.attention.values[~member], grid.attention.values[~member])
