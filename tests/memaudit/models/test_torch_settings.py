"""Settings of torch, and that they are undone for other tests."""

import pytest
import torch

from memaudit.models.torch_settings import make_deterministic


@pytest.fixture(autouse=True)
def restored():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_threads_and_deterministic_kernels_are_set():
    make_deterministic(1)
    assert torch.get_num_threads() == 1
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.backends.cuda.matmul.allow_tf32
