"""The client imports nothing but the standard library; what it does is tested in test_warm_interpreter.py."""

import subprocess
import sys

from memaudit.workflow.warm_interpreter import CLIENT


def test_it_starts_without_site_packages_and_says_when_nobody_listens(tmp_path):
    command = [sys.executable, "-I", "-S", CLIENT, str(tmp_path / "socket"), "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("memaudit: the process that jobs are forked from has ended")
