"""Hidden states of a model, (record, feature), read a bounded number at a time.

They are an array, a memory map too, or a list of arrays that follow each other (any object that gives them anew each
time it is read).
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memaudit.errors import AuditError

States = NDArray[np.floating] | Iterable[NDArray[np.floating]]

LARGEST = 1e15  # larger ones would overflow in squares of squares of float32
CHUNK = 2**22  # numbers that are read at once
FIRST = 64  # records whose median stands for that of all


def chunks(states: States, *, exact: bool = True) -> Iterator[NDArray[np.floating]]:
    """Hidden states in their order, a bounded number at a time: in float64, or, if not exact, float32 ones as they are.

    Raises AuditError if one is not finite.
    """
    parts = states
    if isinstance(states, np.ndarray):
        whole = np.atleast_1d(states)
        rows = max(1, CHUNK // max(1, whole[:1].size))
        parts = (whole[start : start + rows] for start in range(0, len(whole), rows))
    elif iter(states) is states:
        raise AuditError("hidden states: they can be read only once; give an array, or a list of arrays")
    start = 0
    for part in map(np.asarray, parts):
        if part.ndim != 2 or part.dtype.kind not in "fiu":
            raise AuditError(f"hidden states: {part.dtype} of shape {part.shape}; give numbers, (record, feature)")
        chunk = part.astype(np.float64 if exact or part.dtype.itemsize > 4 else np.float32, copy=False)
        if chunk.size and not max(chunk.max(), -chunk.min()) <= LARGEST:
            bad = start + int(np.argmax(~(np.abs(chunk) <= LARGEST).all(1)))
            raise AuditError(
                f"hidden states: record {bad} holds NaN, infinity or a number beyond {LARGEST:g}; leave it out, or look"
                " for the layer that overflows"
            )
        start += len(chunk)
        yield chunk


def median(states: States) -> NDArray[np.floating]:
    """The median of the first states, (feature,): near all of them, however far a few lie."""
    first = next(chunks(states, exact=False), np.empty((0, 0)))
    if not first.size:
        raise AuditError("hidden states: there are none; give (record, feature)")
    return np.median(first[:FIRST], axis=0)


def reader(states: States, origin: NDArray[np.floating], dtype: DTypeLike) -> Callable[[], Iterable[NDArray]]:
    """A function that reads the states, less `origin`, in `dtype`; few of them are held, others read anew each time."""

    def read() -> Iterator[NDArray]:
        for chunk in chunks(states, exact=False):
            if chunk.shape[1] != len(origin):
                raise AuditError(f"hidden states: {chunk.shape[1]} features after {len(origin)}; give as many of each")
            yield np.subtract(chunk, origin, dtype=np.result_type(chunk, dtype)).astype(dtype, copy=False)

    if isinstance(states, np.ndarray) and states.size <= CHUNK:
        held = list(read())
        return lambda: held
    return read
