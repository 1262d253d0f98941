"""Hidden states of a model, (record, feature), read in chunks of bounded size.

They are an array, possibly a memory map, or a sequence of consecutive arrays (any object that can be iterated more than
once).
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memaudit.common.arrays import Floats
from memaudit.common.errors import AuditError

States = Floats | Iterable[Floats]

LARGEST = 1e15  # larger numbers would overflow in fourth powers of float32
CHUNK = 2**22  # numbers that are read at once
SOME = 64  # records whose median approximates that of all


def chunks(states: States, *, exact: bool = True) -> Iterator[Floats]:
    """Hidden states in their order, in bounded chunks: as float64, or, if not exact, float32 ones unchanged.

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
        chunk = part.astype(np.float64 if exact else np.promote_types(part.dtype, np.float32), copy=False)
        chunk = chunk.astype(np.float64, copy=False) if chunk.dtype.itemsize > 8 else chunk
        if chunk.size and not max(chunk.max(), -chunk.min()) <= LARGEST:
            bad = start + int(np.argmax(~(np.abs(chunk) <= LARGEST).all(1)))
            raise AuditError(
                f"hidden states: record {bad} holds NaN, infinity or a number beyond {LARGEST:g}; leave it out, or look"
                " for the layer that overflows"
            )
        start += len(chunk)
        yield chunk


def median(states: States) -> Floats:
    """Median of some states, (feature,): close to most of them despite outliers.

    Of an array, evenly spaced records are taken, since records of a class often follow each other; of a list the first.
    """
    some, parts = states, []
    if isinstance(states, np.ndarray) and states.ndim == 2:
        some = states[:: max(1, len(states) // SOME)]
    for chunk in chunks(some, exact=False):
        if chunk.size:
            parts.append(chunk)
        if sum(map(len, parts)) >= SOME:
            break
    if not parts:
        raise AuditError("hidden states: there are none; give (record, feature)")
    if len({chunk.shape[1] for chunk in parts}) > 1:
        raise AuditError(
            f"hidden states: {parts[-1].shape[1]} features after {parts[0].shape[1]}; give equally many of each"
        )
    return np.median(np.concatenate(parts), axis=0)


def reader(states: States, origin: Floats, dtype: DTypeLike) -> Callable[[], Iterable[NDArray]]:
    """A function that iterates over the states minus `origin`, in `dtype`; small arrays are kept in memory."""

    def read() -> Iterator[NDArray]:
        for chunk in chunks(states, exact=False):
            if chunk.shape[1] != len(origin):
                raise AuditError(
                    f"hidden states: {chunk.shape[1]} features after {len(origin)}; give equally many of each"
                )
            yield np.subtract(chunk, origin, dtype=np.result_type(chunk, dtype)).astype(dtype, copy=False)

    if isinstance(states, np.ndarray) and states.size <= CHUNK:
        kept = list(read())
        return lambda: kept
    return read
