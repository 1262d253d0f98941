"""What starting a job costs: a Python of its own, which imports what the job's script imports."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import SCRIPTS
from memaudit.workflow.digest import script_of

# Scripts run their `main` as `__main__` alone.
IMPORTS = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='imported')"


def start_up(rule: str, record: Mapping[str, Any]) -> float:
    """CPU seconds by which a job's sidecar falls short of what it would have cost on its own: its start, if forked."""
    return start_up_seconds(rule) if record.get("forked") else 0.0


@cache
def start_up_seconds(rule: str) -> float:
    """CPU seconds until the script of a rule has imported what it needs at its head, measured once for each rule.

    Raises AuditError if it cannot be imported.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    paths = os.pathsep.join([str(SCRIPTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", IMPORTS, str(script_of(rule))]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AuditError(f"{rule}: its script cannot be imported: {done.stderr.strip().splitlines()[-1]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
