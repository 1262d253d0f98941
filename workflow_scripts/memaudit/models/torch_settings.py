"""Settings of torch under which the same question has the same answer."""

import torch


def make_deterministic(threads: int) -> None:
    """Compute with this number of threads, by deterministic kernels, in whole float32 on a GPU."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.set_deterministic_debug_mode("warn")  # does not import the compiler, which takes a second
    torch.backends.cuda.matmul.allow_tf32 = False
