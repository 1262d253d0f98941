"""Times are those of the counted repetitions; settings of precision come back."""

import time

import pytest
import torch

from memaudit.gpu_measurements.timing import kernel_shares, precision, timed


def test_the_warm_up_is_not_counted():
    pauses = iter([0.2, 0.01, 0.03, 0.02])
    found = timed(lambda: time.sleep(next(pauses)), "cpu", repetitions=3, seconds=10)
    assert found["repetitions"] == len(found["seconds_of_each"]) == 3
    assert 0.02 <= found["seconds"] < 0.2
    assert found["peak_mib"] is None


def test_after_its_seconds_no_repetition_starts_beyond_the_third():
    assert timed(lambda: time.sleep(0.01), "cpu", repetitions=50, seconds=0)["repetitions"] == 3


def test_precision_comes_back_even_after_an_error():
    before = torch.backends.cuda.matmul.allow_tf32

    def fail():
        with precision("tf32", "cpu"):
            assert torch.backends.cuda.matmul.allow_tf32
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert torch.backends.cuda.matmul.allow_tf32 == before


def test_bf16_is_autocast_and_fp32_is_not():
    square = torch.eye(4)
    with precision("bf16", "cpu"):
        assert (square @ square).dtype == torch.bfloat16
    with precision("fp32", "cpu"):
        assert (square @ square).dtype == torch.float32


def test_matrix_products_take_the_time_of_matrix_products():
    square = torch.randn(400, 400)
    shares = kernel_shares(lambda: square @ square, 1.0, "cpu")
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["matrix products"] > 0.5
