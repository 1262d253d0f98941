"""Files of installed packages: parsed and never imported, without tests and templates, in random order."""

import sys

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.installed_packages import installed, parsed_files


@pytest.fixture
def loud(tmp_path, monkeypatch):
    """An installed package that raises when it is imported."""
    files = {f"loud/m{number}.py": "raise SystemExit" for number in range(6)}
    files |= {"loud/template.py": "{{ name }} = $", "loud/tests/test_it.py": "pass", "loud/data.txt": ""}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    facts = tmp_path / "loud-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.2\n")
    (facts / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    monkeypatch.syspath_prepend(tmp_path)


def test_files_are_parsed_in_an_order_of_the_generator(loud):
    names = [name for name, _ in parsed_files("loud", np.random.default_rng(0))]
    assert sorted(names) == [f"loud/m{number}.py" for number in range(6)]
    assert names != sorted(names)
    assert names == [name for name, _ in parsed_files("loud", np.random.default_rng(0))]
    assert "loud" not in sys.modules


def test_the_version_is_the_installed_one(loud):
    assert installed("loud").version == "1.2"
    with pytest.raises(AuditError, match="package no-such-package is not installed"):
        installed("no-such-package")
