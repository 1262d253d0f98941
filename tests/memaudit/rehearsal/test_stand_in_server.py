"""The server answers plain downloads, and nothing outside its folder. Its clients are in test_rehearse.py."""

import threading
import urllib.error
import urllib.request

import pytest

from memaudit.data.download import download
from memaudit.rehearsal.stand_in_server import server_of


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "served"
    (folder / "files" / "a").mkdir(parents=True)
    (folder / "files" / "a" / "t.csv").write_text("x,y\n1,2\n")
    (tmp_path / "secret").write_text("no")
    server = server_of(folder)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_file_is_downloaded(served, tmp_path):
    download(f"{served}/files/a/t.csv", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x,y\n1,2\n"


@pytest.mark.parametrize(
    "path", ["/files/b.csv", "/files/../../secret", "/api/models/a/b", "/other", "/api/v1/xml/data/1"]
)
def test_what_is_not_there_is_not_found(served, path):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(served + path)
