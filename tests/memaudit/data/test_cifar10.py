"""CIFAR-10 is read from its binary version; a missing or malformed file is one line."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.cifar10 import FILES, cifar10


def test_images_are_read_from_the_binary_version_alone(tmp_path):
    with pytest.raises(AuditError, match=r"data_batch_1.bin: does not exist; unpack cifar-10-binary.tar.gz"):
        cifar10(tmp_path)
    rows = np.random.default_rng(0).integers(0, 256, (6, 4, 3073), np.uint8)
    rows[:, :, 0] = np.arange(24).reshape(6, 4) % 10
    for part, name in zip(rows, FILES, strict=True):
        part.tofile(tmp_path / name)
    x, y = cifar10(tmp_path)
    np.testing.assert_array_equal(x, rows[:, :, 1:].reshape(24, -1))
    np.testing.assert_array_equal(y, np.arange(24) % 10)
    (tmp_path / "test_batch.bin").write_bytes(bytes([11]) * 3073)
    with pytest.raises(AuditError, match=r"test_batch.bin: is not a file of CIFAR-10"):
        cifar10(tmp_path)
