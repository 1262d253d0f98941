"""Progress of a long job, for its log: rate and time left."""

from collections.abc import Iterable

from tqdm import tqdm


def steps(iterable: Iterable | None = None, what: str = "", **options) -> tqdm:
    """The iterable, with a line in the log every ten seconds; options go to tqdm. Results do not depend on it."""
    return tqdm(iterable, desc=what, mininterval=10, ascii=True, **options)
