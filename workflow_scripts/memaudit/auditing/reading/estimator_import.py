"""Whether an estimator's import path leads to something, before an audit writes its first file."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from memaudit.common.errors import AuditError

# In a process like those of jobs: without the working folder (-P), and without what this process has imported.
PROBE = "import importlib, sys; getattr(importlib.import_module(sys.argv[1]), sys.argv[2])"


def require(models: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise AuditError for an estimator that a job could not import. models: new entries of the catalogue."""
    for path in filter(None, (entry.get("estimator") for entry in models.values())):
        module, _, name = path.rpartition(".")
        command = [sys.executable, "-P", "-c", PROBE, module, name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            # The last line of a traceback is the error, with the name that was probably meant.
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise AuditError(
                f"--model {path!r}: cannot be imported ({reason}); give package.module.Class, and put the folder of a "
                "file of your own on PYTHONPATH"
            )
