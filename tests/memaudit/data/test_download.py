"""Downloads: resumed, checked, and put in place only when complete. The server is on 127.0.0.1."""

import hashlib
import threading

import pytest
from file_server import Server

from memaudit.common.errors import AuditError
from memaudit.data.download import download

BODY = bytes(range(256)) * 2000


def test_a_cut_download_stays_as_part_and_goes_on_with_a_range_request(tmp_path, server):
    server.files["/big"], server.cut = BODY, 300_000
    with pytest.raises(AuditError, match=r"cut off at 300000 of 512000 bytes after 300000 bytes, kept in .*big\.part"):
        download(f"{server.url}/big", tmp_path / "big")
    assert (tmp_path / "big.part").read_bytes() == BODY[:300_000]
    assert not (tmp_path / "big").exists()
    download(f"{server.url}/big", tmp_path / "big", hashlib.sha256(BODY).hexdigest())
    assert (tmp_path / "big").read_bytes() == BODY
    assert server.seen == [None, "bytes=300000-"]
    assert not (tmp_path / "big.part").exists()


def test_a_server_without_ranges_sends_the_whole_file_again(tmp_path):
    with Server(ranges=False) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        server.files["/big"], server.cut = BODY, 1000
        with pytest.raises(AuditError, match="cut off"):
            download(f"{server.url}/big", tmp_path / "big")
        download(f"{server.url}/big", tmp_path / "big")
        server.shutdown()
    assert (tmp_path / "big").read_bytes() == BODY


def test_a_file_that_changed_since_the_cut_is_not_glued_together(tmp_path, server):
    server.files["/big"], server.cut = BODY, 1000
    with pytest.raises(AuditError, match="cut off"):
        download(f"{server.url}/big", tmp_path / "big")
    server.files["/big"], server.tag = BODY[::-1], '"two"'
    download(f"{server.url}/big", tmp_path / "big")
    assert (tmp_path / "big").read_bytes() == BODY[::-1]


def test_a_part_longer_than_the_file_starts_over(tmp_path, server):
    server.files["/big"], server.cut = BODY, 400_000
    with pytest.raises(AuditError, match="cut off"):
        download(f"{server.url}/big", tmp_path / "big")
    server.files["/big"] = BODY[:1000]
    download(f"{server.url}/big", tmp_path / "big")
    assert (tmp_path / "big").read_bytes() == BODY[:1000]


def test_a_download_with_another_checksum_is_thrown_away(tmp_path, server):
    server.files["/big"] = BODY
    with pytest.raises(AuditError, match="the file changed or is damaged"):
        download(f"{server.url}/big", tmp_path / "big", "0" * 64)
    assert not (tmp_path / "big").exists()
    assert not (tmp_path / "big.part").exists()


def test_a_wrong_address_an_absent_server_and_another_scheme(tmp_path, server):
    with pytest.raises(AuditError, match="the server answers 404"):
        download(f"{server.url}/nowhere", tmp_path / "x")
    server.server_close()
    with pytest.raises(AuditError, match="run again"):
        download(f"{server.url}/big", tmp_path / "x", timeout=2)
    with pytest.raises(AuditError, match="only http and https"):
        download("file:///etc/hostname", tmp_path / "x")
