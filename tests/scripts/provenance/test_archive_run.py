"""An archived run is one file, which the script that checks archives accepts."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError

JOB = SimpleNamespace(params=SimpleNamespace(run="results/demo"))


def test_the_archive_is_written_beside_the_results_and_its_hash_is_printed(finished, monkeypatch):
    lines = []
    script = load_script("provenance_archive_run")
    monkeypatch.setattr(script, "tell", lines.append)
    script.main(JOB)
    assert sha256(finished / "demo.tar.gz") in lines[1]
    assert "holds 2 results" in lines[0]


def test_an_unfinished_run_is_refused(finished):
    (finished / "config.yaml").unlink()
    with pytest.raises(AuditError, match=r"^results/demo/config.yaml: not there, the run is not finished"):
        load_script("provenance_archive_run").main(JOB)
