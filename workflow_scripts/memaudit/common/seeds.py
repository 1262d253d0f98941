"""Every random stream of a run, derived from its master seed and a name."""

import hashlib

import numpy as np


def sequence(master: int, *path: str | int) -> np.random.SeedSequence:
    """Seed sequence of the stream called `path`, e.g. ("lira", "wine", "design").

    It depends on the master seed and the name alone: a result does not change with shards, cores or the order of jobs.
    """
    name = hashlib.sha256("\x1f".join(map(str, path)).encode()).digest()
    return np.random.SeedSequence([master, *np.frombuffer(name, dtype=np.uint32)])


def generator(master: int, *path: str | int) -> np.random.Generator:
    """NumPy generator of the stream called `path`."""
    return np.random.default_rng(sequence(master, *path))


def integer(master: int, *path: str | int) -> int:
    """A seed in [0, 2**31) for libraries that take an int."""
    return int(sequence(master, *path).generate_state(1)[0] >> 1)
