"""Effects of known size in the answers of an audit."""

import numpy as np
import pytest
from attack_grids import passive
from audit_examples import ATTACKS

from memaudit.attacks import registry
from memaudit.attacks.score_matrices import confidence
from memaudit.studies.audit import audit_attacks
from memaudit.studies.audit.planted_effects import Answers


@pytest.fixture
def grid():
    return audit_attacks.first_variant(passive(np.random.default_rng(0)))


def of(grid, threats=("labels", "probabilities")):
    return Answers.of(grid, threats, ATTACKS["rmia"])


def test_the_run_itself_is_an_effect_of_0_on_its_own_members(grid):
    answers = of(grid)
    made = answers.panel(answers.members.design.values)
    usual = audit_attacks.panels(grid, answers.threats, ATTACKS["rmia"])["members"]
    assert set(made.attacks) == set(usual.attacks) == set(registry.of_one_query("probabilities"))
    for name in usual.attacks:
        np.testing.assert_allclose(made.scores(name), usual.scores(name))


def test_a_shift_is_a_part_of_each_records_deviation_in_all_signals(grid):
    answers, member = of(grid), of(grid).redrawn(np.random.default_rng(1))
    panel = answers.panel(member, 0.5)
    moved = panel.attacks["lira"].signals - confidence(answers.members)
    np.testing.assert_allclose(moved, 0.5 * answers.deviations * member, atol=1e-9)
    # Signals that are made of the logits move alike.
    np.testing.assert_allclose(panel.attacks["loss"].signals, -np.logaddexp(0, -panel.attacks["lira"].signals))


def test_only_members_are_looked_up(grid):
    answers = of(grid)
    signals, member = answers.looked_up().attacks["lira"].signals, answers.members.design.values
    assert (signals[member] == signals.max()).all()
    np.testing.assert_allclose(signals[~member], confidence(answers.members)[~member])
    right = of(grid, ["labels"]).looked_up().attacks["correctness"].signals
    assert right[member].all()
    assert not right[~member].all()


def test_units_are_taken_whole(grid):
    units = np.where(grid.member, np.arange(grid.sizes["record"]) // 3, 100 + np.arange(grid.sizes["record"]))
    answers = of(grid.assign_coords(unit=("record", units)))
    assert answers.persons
    part = answers.of_units(27 * 32, np.random.default_rng(0))
    assert part.members.sizes["record"] == 27
    assert (np.unique(part.members.unit, return_counts=True)[1] == 3).all()
    assert answers.of_units(10**6, np.random.default_rng(0)) is answers
