"""Containers are opened by what they begin with, and damaged ones are refused."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.scanning import containers


def content(path, data):
    path.write_bytes(data)
    return containers.read(path)


def test_a_zip_holds_each_of_its_files(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.pkl", pickle.dumps([1]))
        file.writestr("b.txt", "words")
        file.writestr("c.bin", b"no pickle")
        file.writestr("d.npz", gzip.compress(pickle.dumps([2])))
    found = content(tmp_path / "a.zip", archive.getvalue())
    assert [one for _, one in found.objects] == [[1], [2]]
    assert len(found.unread) == 1
    assert "'c.bin'" in found.unread[0]


def test_pickles_one_behind_the_other_and_bytes_behind_them(tmp_path):
    found = content(tmp_path / "a.pkl", pickle.dumps([1]) + pickle.dumps([2]) + b"rest")
    assert [one for _, one in found.objects] == [[1], [2]]
    assert found.unread == ["4 bytes behind its last pickle"]


def test_archives_within_archives_have_an_end(tmp_path):
    data = pickle.dumps([1])
    for _ in range(containers.MOST_DEPTH + 2):
        data = gzip.compress(data)
    with pytest.raises(AuditError, match="deep"):
        content(tmp_path / "a.gz", data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_is_refused(tmp_path, method):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        file.writestr("a.npy", np.random.default_rng(0).bytes(1000))
    data = bytearray(archive.getvalue())
    data[300] ^= 255
    with pytest.raises(AuditError, match="damaged"):
        content(tmp_path / "a.zip", bytes(data))


def test_an_array_of_objects_is_read_as_a_pickle(tmp_path):
    np.save(tmp_path / "a.npy", np.array([1, "a", None], object), allow_pickle=True)
    assert len(containers.read(tmp_path / "a.npy").objects) == 1
