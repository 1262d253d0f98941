"""The audit of a condition, on few releases: what is released keeps its promise, and large faults are found."""

import numpy as np
import pytest
from private_records import UNSEEDED

from memaudit.privacy.tabpate_release import TabPATE
from memaudit.statistics.distinguishing_tests import epsilon_of_mu
from memaudit.studies.release_audit.audited_releases import AS_RELEASED, BUDGET, conditions, features
from memaudit.studies.release_audit.neighbour_tables import marks_model

CONDITIONS = conditions()


def test_each_part_is_audited_and_has_a_control():
    parts = {one.part for one in CONDITIONS.values() if one.broken == AS_RELEASED}
    controlled = {one.part for one in CONDITIONS.values() if one.broken != AS_RELEASED}
    assert parts - controlled == {"moments, bounds narrowed"}
    assert len(CONDITIONS) == 7 + 6 + 3


@pytest.mark.parametrize("name", ["votes: as released", "schema: as released"])
def test_what_is_released_keeps_its_promise(name):
    promised, found = CONDITIONS[name].audited(400, UNSEEDED)
    assert epsilon_of_mu(promised, BUDGET.delta) == pytest.approx(BUDGET.epsilon, rel=0.01)
    assert found.mu < promised


def test_bounds_from_the_records_are_found():
    promised, found = CONDITIONS["schema: bounds from the records"].audited(1500, UNSEEDED)
    assert found.mu > 2 * promised


def test_a_large_leak_of_each_kind_is_found():
    """Without noise each part shows its canary each time."""
    for name in ("moments: as released", "votes: as released", "tuned alpha: as released", "threshold: as released"):
        condition = CONDITIONS[name]
        pair = condition.tables()
        silent = lambda center, _: center  # noqa: E731
        shown = [
            features(condition.release(TabPATE(one, marks_model, np.random.default_rng(0), silent)))
            for one in (pair.inside, pair.outside)
        ]
        assert shown[0] != shown[1], name
