"""Imports are tried in the environment that is asked about."""

import json
import os
import subprocess
import sys

from memaudit.common.project_paths import SCRIPTS


def probe(*names, path):
    """What the probe says of modules, with `path` before the project's own."""
    search = os.pathsep.join([str(path), str(SCRIPTS)])
    command = [sys.executable, "-m", "memaudit.workflow.check_imports", *names]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_module_that_is_not_there_is_found_and_one_that_is_there_is_not(tmp_path):
    assert probe("numpy", "numpy.random.default_rng", "memaudit.workflow.job", path=tmp_path) == {}
    assert probe("numpy.no_such", "no_such.at.all", path=tmp_path).keys() == {"numpy.no_such", "no_such.at.all"}


def test_what_a_module_itself_lacks_is_named(tmp_path):
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "__init__.py").write_text("")
    (tmp_path / "outer" / "inner.py").write_text("import no_such_package\n")
    assert "no_such_package" in probe("outer.inner", path=tmp_path)["outer.inner"]


def test_a_package_found_in_another_environment_is_a_stranger(tmp_path):
    (tmp_path / "stranger.py").write_text("")
    assert probe("numpy", "stranger", path=tmp_path) == {"stranger": f"stranger comes from {tmp_path / 'stranger.py'}"}
