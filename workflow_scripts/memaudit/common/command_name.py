"""The name by which users call the command, for whatever tells them to. Standard library only."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from memaudit.common.project_paths import PROJECT

INSTALLED, LAUNCHER = "memaudit", "./memaudit"
CALLED = "MEMAUDIT_CALLED_AS"  # environment variable, which the launcher sets, too
COMMAND = re.compile(r"([\w.+@ -]*/)*memaudit")  # stands in pages


def program() -> str:
    """The command as the user has called it, `memaudit` if it is on the PATH; in a job, as `remember` has kept it.

    Without a command, as in a notebook or under Snakemake: `./memaudit` in a checkout, which has this launcher, and
    `memaudit` where the project is installed.
    """
    return shlex.quote(_called())


def _called() -> str:
    own = Path(sys.argv[0]).stem == INSTALLED
    called = _on_path(sys.argv[0]) if own else os.environ.get(CALLED, "")
    if COMMAND.fullmatch(called):
        return called
    return LAUNCHER if (PROJECT / INSTALLED).is_file() else INSTALLED


def _on_path(called: str) -> str:
    """The name of a console command alone if the shell finds this very file by it."""
    found = shutil.which(INSTALLED)
    return INSTALLED if found and os.path.realpath(found) == os.path.realpath(called) else called


def workflow_command() -> str:
    """What runs the workflow, as the user has called it: Snakemake, or `memaudit run` where a subcommand was called."""
    return f"{program()} run" if CALLED in os.environ else "snakemake"


def remember() -> None:
    """Keep the name for the processes that this one starts: jobs of a run write pages that name the command."""
    os.environ[CALLED] = _called()
