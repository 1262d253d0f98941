"""Arrays of numpy, joblib, torch and pyarrow from inert objects: buffers of the file under a checked type and shape."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from memaudit.common.arrays import Array
from memaudit.scanning.inert_objects import PRIMITIVE, Global, Made, Pairs

SIMPLE = re.compile(r"[<>|=]?([biufc]\d{1,2}|[mM]8(\[\w+\])?|[SUV]\d{1,6}|O8?|\?)")
FEWEST = 5  # rows of a list that is read as a table
# Types of torch's storages as numpy reads them; bfloat16 is the upper half of a float32.
TORCH = {
    "Float": "f4", "Double": "f8", "Half": "f2", "BFloat16": "bfloat16", "Long": "i8", "Int": "i4", "Short": "i2",
    "Char": "i1", "Byte": "u1", "Bool": "?", "Untyped": "u1",
}  # fmt: skip


@dataclass(eq=False, slots=True)
class Storage:
    """The numbers behind tensors of torch, read when they are needed; kind: as TORCH."""

    kind: str
    read: Callable[[], bytes]


def dtype_of(one: Any) -> np.dtype | None:
    """The numpy type that an inert object describes, None for one that is not modelled."""
    if not isinstance(one, Made) or one.named() != "numpy.dtype" or not isinstance(one.arguments, tuple):
        return None
    text = next(iter(one.arguments), None)
    state = one.state if isinstance(one.state, tuple) and len(one.state) > 5 else (3, "|", None, None, None, 0)
    if isinstance(text, Global) and text.name == "record":
        text = f"V{state[5]}"
    if not isinstance(text, str) or not SIMPLE.fullmatch(text):
        return None
    if isinstance(state[3], tuple) and isinstance(state[4], Pairs):
        return _structured(state, text)
    order = state[1] if state[1] in ("<", ">") else "="
    try:
        # Dates are read as their numbers: their unit does not matter.
        return np.dtype("i8" if text[:1] in ("m", "M") else text).newbyteorder(order)
    except (TypeError, ValueError):
        return None


def _structured(state: tuple[Any, ...], text: str) -> np.dtype | None:
    """A type with named fields; none of them has fields of its own."""
    formats, offsets = [], []
    for name in state[3]:
        field = state[4].get(name)
        kind = dtype_of(field[0]) if isinstance(field, tuple) and len(field) > 1 else None
        if kind is None or not isinstance(field[1], int):
            return None
        formats.append(kind)
        offsets.append(field[1])
    size = int(re.sub(r"\D", "", text) or 0)
    try:
        return np.dtype({"names": list(state[3]), "formats": formats, "offsets": offsets, "itemsize": size})
    except (TypeError, ValueError):
        return None


def buffered(data: Any, dtype: np.dtype | None, shape: Any, fortran: bool = False) -> Array | None:
    """The array of a buffer that has exactly the bytes of this type and shape, None otherwise."""
    data = _bytes(data)
    if data is None or dtype is None or dtype.hasobject or not _is_shape(shape):
        return None
    if math.prod(shape) * dtype.itemsize != len(data) or not data:
        return None
    array = np.frombuffer(data, dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, tuple) and len(shape) <= 8 and all(type(one) is int and one >= 0 for one in shape)


def _bytes(data: Any) -> bytes | bytearray | memoryview | None:
    """Bytes, also as the texts from which old protocols rebuild them (`_codecs.encode`, `bytearray`)."""
    if isinstance(data, bytes | bytearray | memoryview):
        return data
    if not isinstance(data, Made) or not isinstance(data.arguments, tuple) or not data.arguments:
        return None
    first, rebuilt = data.arguments[0], data.named().rpartition(".")[2] in ("encode", "bytearray", "bytes")
    if rebuilt and isinstance(first, str):
        try:
            return first.encode("latin-1")
        except UnicodeError:
            return None
    return _bytes(first) if rebuilt and not (isinstance(first, Made) and first.named() == data.named()) else None


def objects(items: Any, shape: Any) -> Array | None:
    """An array of plain numbers and texts, None where other objects are among them."""
    if not isinstance(items, list) or not _is_shape(shape) or math.prod(shape) != len(items):
        return None
    if not all(isinstance(one, PRIMITIVE) for one in items):
        return None
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def array_of(one: Any) -> Array | None:
    """The array that an inert object stands for, None for any other object."""
    if isinstance(one, list | tuple):
        return _listed(one)
    return _made(one) if isinstance(one, Made) else None


def _made(one: Made) -> Array | None:
    name, arguments = one.named(), one.arguments if isinstance(one.arguments, tuple) else ()
    if one.inline is not None:
        return buffered(one.inline, dtype_of(one.attribute("dtype")), *_joblib_layout(one))
    if name.endswith((".multiarray._reconstruct", "numpy.ndarray")) and isinstance(one.state, tuple):
        return _numpy(one.state)
    if name.endswith(".numeric._frombuffer") and len(arguments) == 4:
        return buffered(arguments[0], dtype_of(arguments[1]), arguments[2], arguments[3] == "F")
    if name.startswith("torch._utils._rebuild_tensor") and len(arguments) > 3:
        return _tensor(*arguments[:4])
    return _arrow(arguments[0]) if name == "pyarrow.lib._restore_array" and arguments else None


def _numpy(state: tuple[Any, ...]) -> Array | None:
    if len(state) != 5:
        return None
    _, shape, dtype, fortran, data = state
    if isinstance(data, list):
        array = objects(data, shape[::-1] if fortran and _is_shape(shape) else shape)
        return array.T if array is not None and fortran else array
    return buffered(data, dtype_of(dtype), shape, fortran is True)


def _joblib_layout(one: Made) -> tuple[Any, bool]:
    return one.attribute("shape"), one.attribute("order") == "F"


def inline(one: Made, stream: BinaryIO) -> bool:
    """Take the bytes of an array that joblib writes behind its wrapper; False for objects, which are a pickle."""
    dtype, shape = dtype_of(one.attribute("dtype")), one.attribute("shape")
    if dtype is None or not _is_shape(shape):
        raise ValueError
    if dtype.hasobject:
        return False
    if one.attribute("numpy_array_alignment_bytes") is not None:
        stream.read(stream.read(1)[0])
    size = math.prod(shape) * dtype.itemsize
    one.inline = stream.read(size)
    if len(one.inline) != size:
        raise EOFError
    return True


def _tensor(storage: Any, offset: Any, size: Any, stride: Any) -> Array | None:
    """A tensor of a storage; one that repeats its numbers (stride 0) or leaves the storage is none."""
    if isinstance(storage, Made) and storage.named() in ("torch.storage.TypedStorage", "torch.storage.UntypedStorage"):
        storage = next((one for one in storage.arguments if isinstance(one, Storage)), None)
    if not isinstance(storage, Storage) or not _is_shape(size) or not _is_shape(stride) or len(size) != len(stride):
        return None
    numbers = _numbers(storage)
    if numbers is None or not size or 0 in size or type(offset) is not int or offset < 0:
        return None
    last = offset + sum((many - 1) * step for many, step in zip(size, stride, strict=True))
    if last >= len(numbers) or math.prod(size) > len(numbers):
        return None
    steps = [step * numbers.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(numbers[offset:], size, steps, writeable=False)


def _numbers(storage: Storage) -> Array | None:
    data, kind = storage.read(), storage.kind
    if kind == "bfloat16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4") if len(data) % 2 == 0 else None
    dtype = np.dtype(kind)
    return np.frombuffer(data, dtype) if len(data) % dtype.itemsize == 0 else None


def storage_kind(one: Any) -> str | None:
    """Type of a storage by the class that a file names, None for one that is not modelled."""
    return TORCH.get(one.name.removesuffix("Storage")) if isinstance(one, Global) else None


def _listed(one: list[Any] | tuple[Any, ...]) -> Array | None:
    """A list of numbers and texts, or of equally long lists of them, as an array."""
    if len(one) < FEWEST:
        return None
    if all(isinstance(item, PRIMITIVE) for item in one):
        return objects(list(one), (len(one),))
    first = one[0]
    if not isinstance(first, list | tuple) or not first or len(first) > 10_000:
        return None
    if not all(isinstance(row, list | tuple) and len(row) == len(first) for row in one):
        return None
    return objects([cell for row in one for cell in row], (len(one), len(first)))


def _arrow(data: Any) -> Array | None:
    """Texts of an Arrow array: (type, length, nulls, offset, buffers, ...) with validity, offsets and bytes."""
    if not isinstance(data, tuple) or len(data) < 5 or not isinstance(data[4], list) or len(data[4]) != 3:
        return None
    kind = data[0].named() if isinstance(data[0], Made) else ""
    if isinstance(data[0], Made) and kind == "pyarrow.lib.type_for_alias" and data[0].arguments:
        kind = str(data[0].arguments[0])
    wide = "large" in kind
    length, start = data[1], data[3]
    if "string" not in kind or type(length) is not int or type(start) is not int or start < 0:
        return None
    valid, ends, text = (
        _bytes(one.arguments[0]) if isinstance(one, Made) and one.arguments else None for one in data[4]
    )
    size = 8 if wide else 4
    if ends is None or text is None or length < 0 or (start + length + 1) * size > len(ends):
        return None
    places = np.frombuffer(ends, f"<i{size}")[start : start + length + 1]
    if (np.diff(places) < 0).any() or places[0] < 0 or places[-1] > len(text):
        return None
    known = np.ones(length, bool)
    if valid is not None and len(valid) * 8 >= start + length:
        known = np.unpackbits(np.frombuffer(valid, "u1"), bitorder="little")[start : start + length].astype(bool)
    cells = [
        bytes(text[low:high]).decode("utf-8", "replace") if one else None
        for low, high, one in zip(places[:-1], places[1:], known, strict=True)
    ]
    array = np.empty(length, object)
    array[:] = cells
    return array
