"""The strongest score under a mitigation, and its difference to the same records without it."""

import numpy as np
import pytest
from attack_grids import MEMBERS, SETS, passive, perturbed

from memaudit.common.errors import AuditError
from memaudit.studies.audit.audit_attacks import by_persons, first_variant
from memaudit.studies.audit.mitigated_answers import (
    against_many_queries,
    gains,
    rounded,
    strongest,
)
from memaudit.studies.audit.mitigated_answers import (
    passive as permitted,
)

RMIA = {"gamma": 1.0, "offline_a": 0.3}
USUAL = permitted(["probabilities"], RMIA)


@pytest.fixture
def grid():
    return first_variant(passive(np.random.default_rng(0)))


def changes(grid, mitigated, attacks_on=USUAL):
    options = {"rng": np.random.default_rng(0), "replicates": 40}
    found = gains(strongest(mitigated, attacks_on, 0.1), strongest(grid, USUAL, 0.1), [0.1], **options)
    return {one.metric: one for one in found}


def test_nothing_changes_without_a_mitigation(grid):
    found = changes(grid, grid)
    assert list(found) == ["auc difference", "tpr@0.1 difference"]
    assert all((one.estimate, one.low, one.high) == (0, 0, 0) for one in found.values())


def test_answers_about_other_targets_are_refused(grid):
    usual = strongest(grid, USUAL, 0.1)
    others = usual._replace(targets=np.array([f"another {target}" for target in usual.targets]))
    with pytest.raises(AuditError, match="none of the targets"):
        gains(others, usual, [0.1], rng=np.random.default_rng(0), replicates=20)


def test_a_mitigation_that_removes_the_signal_lowers_auc_and_tpr(grid):
    noise = np.random.default_rng(1).normal(size=grid.logits.shape)
    found = changes(grid, grid.assign(logits=(grid.logits.dims, noise)))
    assert all(one.high < 0 for one in found.values())


def test_the_score_is_chosen_anew_for_the_answers_that_are_left(grid):
    labels = strongest(grid, permitted(["labels"], RMIA), 0.1)
    assert labels.most_chosen()[0] in ("correctness", "lira correctness", "lira correctness shrunk")
    auc, *_ = labels.estimates(fprs=[0.1], rng=np.random.default_rng(0), replicates=20)
    whole, *_ = strongest(grid, USUAL, 0.1).estimates(fprs=[0.1], rng=np.random.default_rng(0), replicates=20)
    assert 0.5 < auc.estimate < whole.estimate


def test_many_digits_change_nothing_and_few_digits_hide(grid):
    same = changes(grid, grid, rounded(["probabilities"], RMIA, 9))["auc difference"]
    few = changes(grid, grid, rounded(["probabilities"], RMIA, 0))["auc difference"]
    assert abs(same.estimate) < 0.01
    assert few.high < 0


def test_only_common_records_are_compared(grid):
    counts = grid.counts.values.copy()
    counts[:, :5] = 0
    dropped = grid.assign(counts=(grid.counts.dims, counts), design=(grid.counts.dims, counts > 0))
    assert changes(grid, dropped)["auc difference"].n == SETS * (MEMBERS - 5)


def test_persons_are_accused_where_one_has_several_records(grid):
    assert not by_persons(grid)
    units = np.arange(grid.sizes["record"]) // 2
    counts = grid.counts.values[:, 2 * units]
    persons = grid.assign(counts=(grid.counts.dims, counts), design=(grid.counts.dims, counts > 0))
    persons = persons.assign_coords(unit=("record", units))
    assert by_persons(persons)
    assert strongest(persons, USUAL, 0.1).membership.shape == (SETS, MEMBERS // 2)


def test_many_queries_are_compared_on_their_own_records(grid):
    copies = perturbed(grid, np.random.default_rng(0)).assign_coords(unit=grid.unit[:8])
    attacked = against_many_queries(copies, grid, {"scale": 0.1, "count": 20}, 0.1)
    found = gains(attacked, strongest(grid, USUAL, 0.1), [0.1], rng=np.random.default_rng(0), replicates=20)
    assert found[0].n == SETS * 8
