"""The environment of the synthesizers: where it is missing, the line names the remedy."""

from types import SimpleNamespace

import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow import synthesizer_environment


def test_a_missing_environment_is_named_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(synthesizer_environment, "ENVIRONMENT", tmp_path / ".venv-synth")
    with pytest.raises(AuditError, match=r"make \.venv-synth"):
        synthesizer_environment.handed_over(SimpleNamespace(), "script.py")


def test_dpmm_is_not_in_the_environment_of_the_library():
    assert not synthesizer_environment.is_here()


def test_an_error_there_is_the_jobs_own_line(monkeypatch, tmp_path):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 'memaudit: synthesis: too few' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(synthesizer_environment, "ENVIRONMENT", tmp_path)
    files = {"input": {"codes": "codes.parquet"}, "output": [tmp_path / "out.parquet"]}
    job = SimpleNamespace(params={}, wildcards={}, **files)
    with pytest.raises(AuditError, match=r"^synthesis: too few$"):
        synthesizer_environment.handed_over(job, "script.py", ("codes",))
