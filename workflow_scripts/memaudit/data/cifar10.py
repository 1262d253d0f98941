"""CIFAR-10 (Krizhevsky 2009) from its binary version. The pickled Python version is not read."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.common.checksums import check_sum
from memaudit.common.errors import AuditError
from memaudit.common.tar_members import is_archive, read_members

FILES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
FOLDER = "cifar-10-batches-bin"  # in the archive
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ROW = 1 + 3 * 32 * 32  # label, then red, green and blue


def cifar10(path: str | Path, checksum: str | None = None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return images (60000, 3072), all pixels of one colour before the next colour, and their classes (60000,).

    path: cifar-10-binary.tar.gz, or the folder of its files; checksum: SHA-256 of it, None checks nothing. Raises
    AuditError for a missing or malformed file, or another checksum; nothing is downloaded.
    """
    parts = []
    for name, content in _contents(Path(path), checksum):
        rows = np.frombuffer(content, np.uint8)
        if not rows.size or rows.size % ROW or (rows[::ROW] >= len(CLASSES)).any():
            raise AuditError(f"{path}: {name} is not a file of CIFAR-10's binary version; download it again")
        parts.append(rows.reshape(-1, ROW))
    rows = np.concatenate(parts)
    return rows[:, 1:], rows[:, 0].astype(np.int64)


def _contents(path: Path, checksum: str | None) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the six files."""
    packed = is_archive(path)
    for wanted in [path] if packed else [path / name for name in FILES]:
        if not wanted.is_file():
            raise AuditError(
                f"{wanted}: does not exist; put cifar-10-binary.tar.gz (www.cs.toronto.edu/~kriz/cifar.html) there, or"
                " give the folder of its files, nothing is downloaded here"
            )
    check_sum(path, checksum, "CIFAR-10")
    if packed:
        yield from zip(FILES, read_members(path, [f"{FOLDER}/{name}" for name in FILES]), strict=True)
        return
    for name in FILES:
        yield name, (path / name).read_bytes()
