"""The block `iclmem/ground_truth` of the config: every fault is named by its key."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from memaudit.config.iclmem_ground_truth import GroundTruth, ground_truth_faults
from memaudit.config.iclmem_section import Arm

TRUTH = {"datasets": ["wine"], "arms": ["usual"], "models": 12, "models_per_job": 6, "targets": 20, "controls": 10}


def faults(arm=(), **changes):
    study = SimpleNamespace(arms={"usual": Arm(learning_rate=1e-3, **dict(arm))}, queries=30, epochs=[1, 10])
    shared = SimpleNamespace(datasets={"wine": None})
    return list(ground_truth_faults(GroundTruth(**TRUTH | changes), study, shared))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"datasets": ["wein"]}, "iclmem/ground_truth/datasets: unknown dataset 'wein'; did you mean `wine`?"),
        ({"arms": ["slow"]}, "iclmem/ground_truth/arms: slow is none of iclmem/arms, which are usual"),
        ({"targets": 21}, "iclmem/ground_truth/targets: 31 pairs with the controls, usual has 30; ask for fewer"),
        ({"epochs": [2]}, "iclmem/ground_truth/epochs: none is probed by usual, which has 1, 10"),
        ({"epochs": [10, 1]}, "iclmem/ground_truth/epochs: must increase"),
    ],
)
def test_a_fault_is_named_by_its_key(changes, fault):
    assert any(fault in found for found in faults(**changes))


@pytest.mark.parametrize(
    ("arm", "key"),
    [
        ({"placebo": True}, "placebo"),
        ({"joint": True}, "joint"),
        ({"copies": 4}, "copies"),
        ({"pairs": "random"}, "pairs"),
        ({"labels": "shuffled_members"}, "labels"),
    ],
)
def test_shadow_models_are_of_plain_arms(arm, key):
    assert f"iclmem/ground_truth/arms: usual has {key}, which shadow models do not take; name another arm" in faults(
        arm
    )


def test_a_valid_block_has_no_fault_and_an_odd_number_of_models_is_refused():
    assert faults() == []
    assert faults({"labels": "canaries", "epochs": [5]}, epochs=None) == []
    with pytest.raises(ValidationError, match="multiple of 2"):
        GroundTruth(**TRUTH | {"models": 13})
