"""An archive is checked as a file and as the folder that it was unpacked into."""

import tarfile
from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.workflow import archive


def test_an_archive_and_its_folder_agree_and_a_changed_member_is_named(finished, tmp_path, monkeypatch):
    lines = []
    script = load_script("provenance_verify_archive")
    monkeypatch.setattr(script, "tell", lines.append)
    archive.write("results/demo", tmp_path / "demo.tar.gz")
    with tarfile.open(tmp_path / "demo.tar.gz") as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    folder = tmp_path / "unpacked/demo"
    for path in (tmp_path / "demo.tar.gz", folder):
        script.main(SimpleNamespace(input=[str(path)]))
    assert [line.partition(": ")[2] for line in lines] == [
        "2 results and the 3 files behind them agree with their sidecars"
    ] * 2
    (folder / "results/demo/raw").write_text("other rows")
    with pytest.raises(AuditError, match=r"results/demo/raw was changed"):
        script.main(SimpleNamespace(input=[str(folder)]))
