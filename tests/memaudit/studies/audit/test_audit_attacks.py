"""The attacks of an audit on planted score matrices."""

import numpy as np
import pytest
from attack_grids import MEMBERS, SETS, passive

from memaudit.attacks import registry
from memaudit.studies.audit import audit_attacks


@pytest.fixture
def grid():
    return audit_attacks.first_variant(passive(np.random.default_rng(0)))


RMIA = {"gamma": 1.0, "offline_a": 0.3}


def test_threats_decide_what_is_read():
    assert audit_attacks.permitted(["labels"]) == audit_attacks.permitted(["labels", "poison"]) == "label-only"
    assert (
        audit_attacks.permitted(["labels", "probabilities"]) == audit_attacks.permitted(["poison"]) == "probabilities"
    )
    assert audit_attacks.permits(["labels"], "brainwash")
    assert not audit_attacks.permits(["labels"], "lira poisoned")
    assert (audit_attacks.compared(["labels"]), audit_attacks.compared(["probabilities"])) == (
        "lira correctness",
        "lira",
    )


def test_the_candidates_are_all_permitted_scores_of_the_registry(grid):
    for threats, reads in {("labels",): "label-only", ("labels", "probabilities"): "probabilities"}.items():
        found = audit_attacks.panels(grid, threats, RMIA)["members"].attacks
        assert list(found) == registry.of_one_query(reads)
        assert all(audit_attacks.permits(threats, name) for name in found)
        assert all(one.signals.shape == (SETS, MEMBERS) for one in found.values())
    assert {"rmia offline estimated", "lira shrunk variance", "lira shared variance", "combined"} <= set(found)


def test_persons_are_judged_where_one_has_several_records(grid):
    assert list(audit_attacks.panels(grid, ["labels"], RMIA)) == ["members"]
    halves = grid.assign_coords(unit=("record", grid.unit.values // 2))
    persons = audit_attacks.panels(halves, ["labels"], RMIA)["persons"]
    assert persons.membership.shape == (SETS, MEMBERS // 2)


def test_a_smaller_model_is_compared_on_as_many_shadow_contexts(grid):
    case = audit_attacks.main_alike(grid, grid.isel(model=slice(16)), "model_2", ["probabilities"])
    assert case.membership.shape == (16, MEMBERS)
    assert (case.keys["model"], case.keys["records"], case.name) == ("model_2", "main alike", "lira")
    assert audit_attacks.on_members(grid, "main", ["labels"]).name == "lira correctness"
