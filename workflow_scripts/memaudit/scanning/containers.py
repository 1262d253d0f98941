"""What a model's file holds: its pickles as inert objects and its arrays, out of archives and compression.

Read are pickle, joblib (also compressed), torch (zip and the older format), `.tabpfn_fit` and other zip archives,
safetensors, .npy and .npz. Nothing is written to disk and no code of the file is run.
"""

import bz2
import gzip
import io
import json
import lzma
import mmap
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.scanning.array_readers import Storage, buffered, inline, storage_kind
from memaudit.scanning.inert_objects import Global, Made, Place
from memaudit.scanning.pickle_machine import Machine

MOST_BYTES = 8 << 30  # of everything that is decompressed
MOST_DEPTH = 8  # of archives and compression within one another
MOST_HEADER = 100_000_000  # bytes of the header of safetensors
ZIP, NPY, LZ4, MAGIC = b"PK\x03\x04", b"\x93NUMPY", b"\x04\x22\x4d\x18", 0x1950A86A20F9469CFC6C
COMPRESSED: dict[bytes, Callable[[BinaryIO], BinaryIO]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
    b"\x5d\x00\x00": lzma.LZMAFile,
}
ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
SAFE_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
    "BOOL": "?", "U16": "<u2", "U32": "<u4", "U64": "<u8",
}  # fmt: skip
FAULTS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, KeyError)
DAMAGED = (*FAULTS, RuntimeError, IndexError, TypeError)


@dataclass
class Content:
    """What was found in a file: objects of its pickles and arrays that stand alone, each with its place."""

    kinds: list[str] = field(default_factory=list)
    objects: list[tuple[Place, Any]] = field(default_factory=list)
    arrays: list[tuple[Place, Array]] = field(default_factory=list)
    called: dict[tuple[str, str], Global] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)  # what could not be read, in words
    bytes_left: int = field(default_factory=lambda: MOST_BYTES)


class Mapped(mmap.mmap):
    """A mapped file as `zipfile` wants it."""

    def seekable(self) -> bool:
        """True."""
        return True


def read(path: Path) -> Content:
    """The content of a file. Raises AuditError, one line without the file's name, where it is none of these formats."""
    content = Content()
    with open(path, "rb") as file:
        if not path.stat().st_size:
            raise AuditError("the file is empty (0 bytes)")
        # Storages of torch are read later: what refers to the mapped file keeps it open.
        open_bytes(Mapped(file.fileno(), 0, access=mmap.ACCESS_READ), Place(""), content, 0)
    return content


def open_bytes(data: Any, place: Place, content: Content, depth: int) -> None:
    """Add what these bytes (or a mapped file) hold to the content. Raises AuditError where they are no known format."""
    if depth > MOST_DEPTH:
        raise AuditError(f"holds archives within archives, more than {MOST_DEPTH} deep")
    start = bytes(data[:16])
    if not start:
        raise AuditError("the file is empty (0 bytes)")
    if start.startswith(ZIP):
        _archive(data, place, content, depth)
    elif start.startswith(NPY):
        _npy(data, place, content)
    elif start.startswith(LZ4):
        _lz4(data, place, content, depth)
    elif start.startswith(ZLIB) or any(map(start.startswith, COMPRESSED)):
        content.kinds.append("compressed")
        open_bytes(_decompressed(data, start, content), place, content, depth + 1)
    elif len(start) > 8 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") < len(data):
        _safetensors(data, place, content)
    else:
        _pickles(data, place, content)


def _stream(data: Any) -> BinaryIO:
    if isinstance(data, mmap.mmap):
        data.seek(0)
        return data
    return io.BytesIO(data)


def _decompressed(data: Any, start: bytes, content: Content) -> bytes:
    """The bytes behind a compression. Raises AuditError for damaged ones, and for more than MOST_BYTES."""
    try:
        if start.startswith(ZLIB):
            machine = zlib.decompressobj()
            found = machine.decompress(bytes(data), content.bytes_left + 1)
        else:
            opener = next(one for magic, one in COMPRESSED.items() if start.startswith(magic))
            with opener(io.BytesIO(bytes(data))) as file:
                found = file.read(content.bytes_left + 1)
    except FAULTS:
        raise AuditError("its compression is damaged or cut off") from None
    return _counted(found, content)


def _lz4(data: Any, place: Place, content: Content, depth: int) -> None:
    try:
        import lz4.frame
    except ImportError:
        raise AuditError(
            "is compressed with lz4; install the package lz4 into the environment, or recompress"
        ) from None
    content.kinds.append("compressed")
    try:
        with lz4.frame.open(io.BytesIO(bytes(data))) as file:
            found = file.read(content.bytes_left + 1)
    except (RuntimeError, *FAULTS):
        raise AuditError("its compression is damaged or cut off") from None
    open_bytes(_counted(found, content), place, content, depth + 1)


def _counted(found: bytes, content: Content) -> bytes:
    content.bytes_left -= len(found)
    if content.bytes_left < 0:
        raise AuditError(f"holds more than {MOST_BYTES >> 30} GiB when it is decompressed, the most that is read")
    return found


def _npy(data: Any, place: Place, content: Content) -> None:
    """An array in a file of its own; one of objects holds a pickle behind its header."""
    file = io.BytesIO(bytes(data))
    try:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = header.get(version, np.lib.format.read_array_header_2_0)(file)
    except (ValueError, TypeError, SyntaxError):
        raise AuditError("its .npy header is damaged") from None
    content.kinds.append("npy")
    rest = file.read()
    if dtype.hasobject:
        _pickles(rest, place, content)
        return
    array = buffered(rest, dtype, shape, fortran)
    if array is None:
        raise AuditError("its .npy data are cut off or longer than its header says")
    content.arrays.append((place, array))


def _safetensors(data: Any, place: Place, content: Content) -> None:
    size = int.from_bytes(data[:8], "little")
    try:
        if size > MOST_HEADER:
            raise ValueError
        header = json.loads(bytes(data[8 : 8 + size]))
        entries = {name: one for name, one in header.items() if name != "__metadata__"}
        for name, one in entries.items():
            low, high = one["data_offsets"]
            raw, shape = bytes(data[8 + size + low : 8 + size + high]), tuple(one["shape"])
            if one["dtype"] == "BF16":
                array = buffered((np.frombuffer(raw, "<u2").astype("<u4") << 16).tobytes(), np.dtype("<f4"), shape)
            else:
                kind = SAFE_TYPES.get(one["dtype"])
                array = buffered(raw, np.dtype(kind), shape) if kind else None
            if array is not None:
                content.arrays.append((Place(f".{name}", place), array))
    except (*DAMAGED, AttributeError, RecursionError):
        raise AuditError("is no pickle, and its safetensors header is damaged or cut off") from None
    content.kinds.append("safetensors")


def _archive(data: Any, place: Place, content: Content, depth: int) -> None:
    """A zip archive: of torch, of numpy, a .tabpfn_fit file, or any other with such files in it."""
    try:
        archive = zipfile.ZipFile(_stream(data))
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
    except FAULTS:
        raise AuditError("is a damaged zip archive") from None
    pickled = [name for name in names if name.endswith("data.pkl")]
    if pickled:
        root = pickled[0].removesuffix("data.pkl")
        content.kinds.append("torch")
        storages = partial(_zipped_storage, archive, f"{root}data/", content)
        _pickles(_member(archive, pickled[0], content), place, content, storages)
        return
    content.kinds.append("zip")
    for name in names:
        raw = _member(archive, name, content)
        if name.endswith((".json", ".txt", ".md", ".yaml")) or not raw:
            continue
        try:
            open_bytes(raw, Place(f"{name}:" if name.isprintable() else "file:", place), content, depth + 1)
        except AuditError as error:
            content.unread.append(f"{name!r} {error}")
    if not content.objects and not content.arrays:
        raise AuditError("is a zip archive without a pickle or an array in it")


def _member(archive: zipfile.ZipFile, name: str, content: Content) -> bytes:
    try:
        with archive.open(name) as file:
            return _counted(file.read(content.bytes_left + 1), content)
    except DAMAGED:
        raise AuditError("is a damaged or encrypted zip archive") from None


def _zipped_storage(archive: zipfile.ZipFile, folder: str, content: Content, identity: Any) -> Any:
    """The storage of a tensor in an archive of torch, by its persistent id (storage, class, key, device, numbers)."""
    if not isinstance(identity, tuple) or len(identity) < 3 or (kind := storage_kind(identity[1])) is None:
        return None
    return Storage(kind, partial(_member, archive, f"{folder}{identity[2]}", content))


def _pickles(data: Any, place: Place, content: Content, persistent: Callable[[Any], Any] = lambda _: None) -> None:
    """All pickles of these bytes, one behind the other."""
    stream, size = _stream(data), len(data)
    machine = Machine(persistent, inline)
    machine.called = content.called
    first = machine.load(stream)
    if isinstance(first, int) and first == MAGIC:
        _older_torch(stream, machine, place, content)
        return
    found = [first]
    while stream.tell() < size:
        before = stream.tell()
        try:
            found.append(machine.load(stream))
        except AuditError:
            content.unread.append(f"{size - before} bytes behind its last pickle")
            break
    content.kinds.append("pickle")
    content.objects += [(place, one) for one in found]


def _older_torch(stream: BinaryIO, machine: Machine, place: Place, content: Content) -> None:
    """torch's format before zip archives: three pickles of facts, the object, keys of the storages, their numbers."""
    known: dict[str, Storage] = {}
    raw: dict[str, bytes] = {}

    def persistent(identity: Any) -> Any:
        if not isinstance(identity, tuple) or len(identity) < 5 or (kind := storage_kind(identity[1])) is None:
            return None
        key = str(identity[2])
        return known.setdefault(key, Storage(kind, lambda: raw.get(key, b"")))

    machine.load(stream)
    machine.load(stream)
    machine.persistent = persistent
    one, keys = machine.load(stream), machine.load(stream)
    if not isinstance(keys, list):
        raise AuditError("is no complete file of torch")
    for key in map(str, keys):
        if key not in known:
            break  # of a kind that is not modelled, so its length is not known
        width = 2 if known[key].kind == "bfloat16" else np.dtype(known[key].kind).itemsize
        count = int.from_bytes(stream.read(8), "little")
        raw[key] = stream.read(count * width)
    content.kinds.append("torch")
    content.objects.append((place, one))


def nested(one: Made) -> bytes | None:
    """Bytes of a torch file that a pickle holds in place of a storage, None for any other object."""
    if one.named() != "torch.storage._load_from_bytes" or not isinstance(one.arguments, tuple) or not one.arguments:
        return None
    data = one.arguments[0]
    if isinstance(data, Made) and data.named() == "_codecs.encode" and data.arguments:
        text = data.arguments[0]
        return text.encode("latin-1", "replace") if isinstance(text, str) else None
    return data if isinstance(data, bytes) else None


def storage_of(data: bytes, content: Content) -> Iterator[Storage]:
    """The storage in such a torch file, none where it holds something else, which is then added to the content."""
    inner = Content(called=content.called, bytes_left=content.bytes_left)
    try:
        open_bytes(data, Place(""), inner, 1)
    except AuditError as error:
        content.unread.append(f"a tensor of torch {error}")
        return
    for place, one in inner.objects:
        if isinstance(one, Storage):
            yield one
        else:
            content.objects.append((place, one))
