"""Arrays come back as they were written; a type, shape or stride that does not fit its bytes gives none."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest

from memaudit.scanning.array_readers import Storage, array_of, buffered, inline
from memaudit.scanning.inert_objects import Global, Made, parts
from memaudit.scanning.pickle_machine import Machine


def read(one, protocol=4):
    return array_of(Machine(lambda _: None, inline).load(io.BytesIO(pickle.dumps(one, protocol))))


ARRAYS = [
    np.arange(12.0).reshape(3, 4),
    np.asfortranarray(np.arange(12, dtype="i4").reshape(3, 4)),
    np.arange(5, dtype=">f4"),
    np.array([True, False, True, True, False]),
    np.array(["a", "b"]),
    np.array([1, "a", None], object),
    np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
]


@pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda one: str(one.dtype))
def test_arrays_of_numpy_come_back(array, protocol):
    found = read(array, protocol)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_dates_are_numbers():
    assert read(np.array(["1970-01-03", "1970-01-01"], "M8[D]")).tolist() == [2, 0]


def test_texts_of_a_frame_come_back():
    machine = Machine(lambda _: None, inline)
    waiting = [machine.load(io.BytesIO(pickle.dumps(pd.Series(["ä", None, "b"]), 4)))]
    found = []
    while waiting:
        one = waiting.pop()
        array = array_of(one)
        found += [array.tolist()] if array is not None else []
        waiting += [part for _, part in parts(one)]
    assert ["ä", None, "b"] in found


@pytest.mark.parametrize(
    ("shape", "size"), [((3,), 8), ((1 << 40, 1 << 40), 8), ((-1,), 8), ((0,), 0), ((2, 2), 24), ("2", 16), ((1.5,), 8)]
)
def test_a_shape_that_does_not_fit_is_none(shape, size):
    assert buffered(bytes(size), np.dtype("f8"), shape) is None


@pytest.mark.parametrize(
    ("offset", "size", "stride", "valid"),
    [
        (0, (2, 2), (2, 1), True),
        (1, (3,), (1,), True),
        (0, (1 << 40,), (0,), False),
        (0, (4, 4), (0, 1), False),
        (2, (3,), (1,), False),
        (-1, (2,), (1,), False),
        (0, (2,), (-1,), False),
        (0, (2, 2), (1,), False),
    ],
)
def test_a_tensor_stays_within_its_storage(offset, size, stride, valid):
    storage = Storage("f4", np.arange(4, dtype="f4").tobytes)
    call = Made(Global("torch._utils", "_rebuild_tensor_v2"), (storage, offset, size, stride))
    found = array_of(call)
    assert (found is not None) == valid
    if valid:
        assert found.ravel()[0] == offset


def test_half_precision_of_torch_is_read():
    data = (np.array([1.5, -2.0], "f4").view("u4") >> 16).astype("u2").tobytes()
    call = Made(Global("torch._utils", "_rebuild_tensor_v2"), (Storage("bfloat16", lambda: data), 0, (2,), (1,)))
    assert array_of(call).tolist() == [1.5, -2.0]
