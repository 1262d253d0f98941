"""Settings of torch under which the same question has the same answer."""

import torch


def make_deterministic(threads: int) -> None:
    """Compute with this number of threads, by deterministic kernels, in whole float32 on a GPU."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
