"""Faults of the baselines of the section `ltmia`, and of an attack on texts of one's own."""

from typing import get_args

from config_faults import each, refuses

from memaudit.config.ltmia_attacks import Baselines
from memaudit.studies.ltmia.further_queries import FURTHER

FAULTS = [
    (
        {"ltmia/baselines/known": 100},
        "ltmia/baselines/known: ltmia/texts/parts/selection has no more texts; the best epoch needs some of them",
    ),
    (
        {"ltmia/baselines/prefix": 64},
        "ltmia/baselines/prefix: a text of 64 tokens leaves no room for it; set a smaller one",
    ),
    (
        {"ltmia/baselines/names": ["recal"]},
        "ltmia/baselines/names/0: must be 'dc_pdd', 'recall', 'con_recall', 'neighbourhood', 'self_loss' or 'spv'",
    ),
    (
        {"ltmia/attack": {"target": "a", "base": "b", "texts": "c", "false_discovery_rate": 0.1}},
        "ltmia/attack/false_discovery_rate: needs known non-members; give ltmia/attack/nonmembers",
    ),
    (
        {"ltmia/training": [], "ltmia/attack": {"target": "a", "base": "b", "texts": "c"}},
        "ltmia/attack: needs a classifier, and ltmia/training is empty",
    ),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)


def test_every_baseline_that_is_computed_can_be_named():
    """The names stand twice, since checking a config must not import torch."""
    (names,) = get_args(Baselines.model_fields["names"].annotation)
    assert get_args(names) == FURTHER
