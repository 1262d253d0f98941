"""A timed step of fine-tuning moves the weights and counts three forward passes."""

import pytest

from memaudit.gpu_measurements import fine_tuning_steps
from memaudit.gpu_measurements.published_networks import build
from memaudit.gpu_measurements.resumable_parts import Setup

SETUP = Setup("cpu", True, 60.0, machine={"peak_tflops": None, "matmul_tflops": {"fp32": 1.0}})


def test_a_step_counts_three_forward_passes():
    found = fine_tuning_steps.step("tabicl_v2", "fp32", fine_tuning_steps.SMALLEST, 5, SETUP)
    operations = build("tabicl_v2", "cpu", small=True).operations(20, 5, 4)
    assert found["repetitions"] == 3
    assert found["tflops"] == pytest.approx(3 * operations / found["seconds"] / 1e12)
    assert found["steps_per_second"] == pytest.approx(1 / found["seconds"])


def test_a_loss_that_is_no_number_is_an_error(monkeypatch):
    monkeypatch.setattr(fine_tuning_steps.Run, "step", lambda *_: None)
    with pytest.raises(ValueError, match="epoch 1 is not a number"):
        fine_tuning_steps.step("tabicl_v2", "fp32", fine_tuning_steps.SMALLEST, 5, SETUP)
