"""Attacks are compared on the same targets and contexts, or not at all."""

import numpy as np
import pytest
from attack_grids import ATTACKS, SETS, TARGETS, passive, perturbed, poisoned

from memaudit.attacks.score_matrices import variant
from memaudit.statistics import threat_models
from memaudit.studies.attacks import matched_cases

KEYS = {"dataset": "wine", "arm": "main", "model": "small", "records": "targets"}
NOISE = ATTACKS["perturbation"]


@pytest.fixture(scope="module")
def grids():
    """Score matrices of usual, noisy and poisoned queries, with the membership matrix `design`."""
    rng = np.random.default_rng(0)
    grid = passive(rng)
    return variant(grid, "usual"), perturbed(grid, rng).assign_coords(unit=grid.unit[:TARGETS]), poisoned(grid, rng)


def test_targets_and_contexts_are_those_of_the_other_matrix(grids):
    usual, noisy, _ = grids
    some = noisy.isel(model=slice(16), record=slice(4, 0, -1))
    found = matched_cases.matched(usual, some)
    assert list(found.record.values) == list(some.record.values)
    np.testing.assert_array_equal(found.design.values, some.design.values)


def test_a_matrix_of_other_targets_contexts_or_memberships_is_not_matched(grids):
    usual, noisy, _ = grids
    assert matched_cases.matched(usual.isel(record=slice(1, None)), noisy) is None
    assert matched_cases.matched(usual.isel(model=slice(SETS - 1)), noisy) is None
    assert matched_cases.matched(usual, noisy.assign(design=~noisy.design)) is None


def test_both_attacks_of_a_pair_have_the_same_targets(grids):
    usual, noisy, mislabelled = grids
    perturbation = threat_models.perturbation_case(KEYS, noisy, NOISE)
    poisoning = list(threat_models.poisoning_cases(KEYS, mislabelled))
    found = matched_cases.lira_beside(usual, noisy, perturbation)
    found += matched_cases.labels_alone(noisy, mislabelled, poisoning, NOISE)
    assert [(one.name, other.name) for one, other in found] == [("lira", "perturbation"), ("brainwash", "perturbation")]
    for one, other in found:
        np.testing.assert_array_equal(one.membership, other.membership)
        assert one.keys["records"] == "targets"
    assert not matched_cases.lira_beside(usual.isel(record=slice(1, None)), noisy, perturbation)
