"""CIFAR-10 is read from its binary version; a missing or malformed file is one line."""

import numpy as np
import pytest
from packed_files import packed

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.data.cifar10 import FILES, cifar10


def test_images_are_read_from_the_binary_version_alone(tmp_path):
    with pytest.raises(AuditError, match=r"data_batch_1.bin: does not exist; put cifar-10-binary.tar.gz"):
        cifar10(tmp_path)
    rows = np.random.default_rng(0).integers(0, 256, (6, 4, 3073), np.uint8)
    rows[:, :, 0] = np.arange(24).reshape(6, 4) % 10
    for part, name in zip(rows, FILES, strict=True):
        part.tofile(tmp_path / name)
    x, y = cifar10(tmp_path)
    np.testing.assert_array_equal(x, rows[:, :, 1:].reshape(24, -1))
    np.testing.assert_array_equal(y, np.arange(24) % 10)
    (tmp_path / "test_batch.bin").write_bytes(bytes([11]) * 3073)
    with pytest.raises(AuditError, match=r"test_batch.bin is not a file of CIFAR-10"):
        cifar10(tmp_path)


def test_the_published_archive_is_read_as_it_is_and_its_checksum_is_held(tmp_path):
    rows = np.zeros((6, 2, 3073), np.uint8)
    rows[:, :, 1:] = np.random.default_rng(1).integers(0, 256, (6, 2, 3072), np.uint8)
    path = tmp_path / "cifar-10-binary.tar.gz"
    with pytest.raises(AuditError, match=r"cifar-10-binary.tar.gz: does not exist; put cifar-10-binary.tar.gz"):
        cifar10(path)
    packed(path, {f"cifar-10-batches-bin/{name}": part.tobytes() for part, name in zip(rows, FILES, strict=True)})
    x, y = cifar10(path, sha256(path))
    np.testing.assert_array_equal(x, rows[:, :, 1:].reshape(12, -1))
    assert y.tolist() == [0] * 12
    with pytest.raises(AuditError, match=r"CIFAR-10: sha256 of .*tar.gz is \w+, the config says 0000"):
        cifar10(path, "0" * 64)
