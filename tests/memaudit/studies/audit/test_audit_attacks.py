"""The attacks of an audit on planted score matrices."""

import numpy as np
import pytest
from attack_grids import MEMBERS, SETS, passive

from memaudit.studies.audit import audit_attacks


@pytest.fixture
def grid():
    return audit_attacks.first_variant(passive(np.random.default_rng(0)))


def test_correctness_is_attacked_only_if_the_adversary_reads_labels(grid):
    cases = list(audit_attacks.passive(grid, "main", ["labels", "probabilities"]))
    assert [case.name for case in cases] == ["lira", "correctness"]
    assert [case.name for case in audit_attacks.passive(grid, "main", ["probabilities"])] == ["lira"]
    for case in cases:
        assert case.attack.signals.shape == case.membership.shape == (SETS, MEMBERS)
        assert case.keys["records"] == "members"


def test_a_smaller_model_is_compared_on_as_many_shadow_contexts(grid):
    case = audit_attacks.main_alike(grid, grid.isel(model=slice(16)), "wine", "model_2")
    assert case.membership.shape == (16, MEMBERS)
    assert (case.keys["model"], case.keys["records"]) == ("model_2", "main alike")
