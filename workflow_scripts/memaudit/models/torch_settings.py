"""Settings of torch under which the same question has the same answer, and of the memory that it computes in."""

import ctypes
import sys

import torch

# Parameters of mallopt (glibc), and bytes.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT, LARGE = 512 * 2**20, 64 * 2**20


def make_deterministic(threads: int) -> None:
    """Compute with this number of threads, by deterministic kernels, in whole float32 on a GPU."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.set_deterministic_debug_mode("warn")  # does not import the compiler, which takes a second
    # Of use where an answer is read from memory that was never written, and otherwise a pass over every new tensor.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def reuse_memory() -> None:
    """Let the process keep up to KEPT bytes of freed memory, in blocks of less than LARGE.

    Else a network's activations go back to the system after every layer, which takes a sixth of a pass of small tables.
    Without effect where the C library has no mallopt (musl, macOS, Windows).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt:
        mallopt(MMAP_THRESHOLD, LARGE)
        mallopt(TRIM_THRESHOLD, KEPT)
