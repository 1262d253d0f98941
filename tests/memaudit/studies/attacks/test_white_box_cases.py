"""Attention beside LiRA on the same contexts: a planted leak is found, and the placebo is not."""

import numpy as np
import pytest
from attack_grids import ATTACKS, SETS, passive, seen_inside

from memaudit.attacks.score_matrices import variant
from memaudit.attacks.white_box_scores import joined
from memaudit.statistics import roc
from memaudit.studies.attacks.white_box_cases import SEEN, STRONGEST, beside, white_box_cases

KEYS = {"dataset": "wine", "arm": "main", "model": "small"}


@pytest.fixture(scope="module")
def cases():
    grid = variant(passive(np.random.default_rng(0)), "usual")
    return white_box_cases(KEYS, joined(grid, seen_inside(grid, np.random.default_rng(1))), ATTACKS["rmia"], 1)


def test_attention_finds_what_is_planted_and_the_placebo_nothing(cases):
    areas = {(one.keys["records"], one.name): roc.auc(one.scores(), one.membership) for one in cases}
    assert areas[SEEN, STRONGEST] > areas[SEEN, "lira"] + 0.05
    assert areas[SEEN, "attention"] > 0.95
    assert abs(areas["placebo", STRONGEST] - 0.5) < 0.15


def test_each_attack_is_compared_with_lira_on_the_same_contexts(cases):
    pairs = beside(cases)
    assert {first.name for first, _ in pairs} == {"attention", "lira attention", STRONGEST}
    assert all(first.membership.shape == second.membership.shape == (SETS // 2, 30) for first, second in pairs)
    assert beside([]) == []
