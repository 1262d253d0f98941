"""Files inside a tar archive: in the order that was asked for, and one line for what cannot be read."""

import tarfile

import pytest
from packed_files import packed

from memaudit.common.errors import AuditError
from memaudit.common.tar_members import is_archive, read_members


@pytest.mark.parametrize(("name", "mode"), [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz")])
def test_members_come_in_the_order_of_their_names(tmp_path, name, mode):
    path = packed(tmp_path / name, {"f/one": b"1", "./f/two": b"22", "f/three": b""}, mode)
    assert is_archive(path)
    assert read_members(path, ["f/two", "f/one"]) == [b"22", b"1"]
    assert read_members(path, ["f/three"]) == [b""]


def test_names_of_archives_end_in_tar():
    assert [is_archive(name) for name in ("a.parquet", "a.zip", "tar", "a.tar/b.csv")] == [False] * 4


def test_what_cannot_be_read_is_one_line(tmp_path):
    whole = packed(tmp_path / "a.tar.gz", {"f/one": bytes(range(256)) * 500})
    with pytest.raises(AuditError, match=r"a.tar.gz: has no file f/two; give the archive as it was published"):
        read_members(whole, ["f/two"])
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole.read_bytes()[:200])
    with pytest.raises(AuditError, match=r"cut.tar.gz: cannot be read as a tar archive .*; download it again"):
        read_members(cut, ["f/one"])
    (tmp_path / "text.tar").write_text("no archive at all")
    with pytest.raises(AuditError, match=r"text.tar: cannot be read as a tar archive"):
        read_members(tmp_path / "text.tar", ["f/one"])


def test_a_folder_or_a_link_is_no_file(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        entry = tarfile.TarInfo("f/link")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(AuditError, match="has no file f/link"):
        read_members(tmp_path / "a.tar", ["f/link"])
