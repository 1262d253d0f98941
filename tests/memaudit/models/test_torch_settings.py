"""Settings of torch, and that they are undone for other tests."""

import ctypes
import subprocess
import sys

import pytest
import torch

from memaudit.models.torch_settings import make_deterministic, reuse_memory


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
    assert not torch.backends.cudnn.allow_tf32  # of convolutions
    assert not torch.utils.deterministic.fill_uninitialized_memory


def test_memory_settings_are_left_alone_where_the_c_library_has_none(monkeypatch):
    reuse_memory()
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    reuse_memory()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="no mallopt")
def test_freed_memory_is_kept():
    """A large array is written again without a page fault for every page."""
    lines = "import resource, numpy", "from memaudit.models.torch_settings import reuse_memory", "reuse_memory()"
    faults = "resource.getrusage(resource.RUSAGE_SELF).ru_minflt"
    loop = f"for _ in range(3): before = {faults}; numpy.ones(2**22)"
    command = [sys.executable, "-c", "\n".join([*lines, loop, f"print({faults} - before)"])]
    assert int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) < 100
