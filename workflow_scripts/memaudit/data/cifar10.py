"""CIFAR-10 (Krizhevsky 2009) from the files of its binary version. The pickled Python version is not read."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.common.errors import AuditError

FILES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ROW = 1 + 3 * 32 * 32  # label, then red, green and blue


def cifar10(folder: str | Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return images (60000, 3072), all pixels of one colour before the next colour, and their classes (60000,).

    Raises AuditError for a missing or malformed file; nothing is downloaded.
    """
    parts = []
    for path in (Path(folder, name) for name in FILES):
        if not path.is_file():
            raise AuditError(
                f"{path}: does not exist; unpack cifar-10-binary.tar.gz (www.cs.toronto.edu/~kriz/cifar.html) and"
                " give its folder, nothing is downloaded here"
            )
        rows = np.fromfile(path, np.uint8)
        if not rows.size or rows.size % ROW or (rows[::ROW] >= len(CLASSES)).any():
            raise AuditError(f"{path}: is not a file of CIFAR-10's binary version; unpack it again")
        parts.append(rows.reshape(-1, ROW))
    rows = np.concatenate(parts)
    return rows[:, 1:], rows[:, 0].astype(np.int64)
