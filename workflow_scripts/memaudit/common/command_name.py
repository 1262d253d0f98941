"""The name by which users call the command, for whatever tells them to. Standard library only."""

import os
import sys
from pathlib import Path

from memaudit.common.project_paths import PROJECT

INSTALLED, LAUNCHER = "memaudit", "./memaudit"
CALLED = "MEMAUDIT_CALLED_AS"


def program() -> str:
    """The command as the user has called it; in a job, as `remember` has kept it.

    Without a command, as in a notebook or under Snakemake: `./memaudit` in a checkout, which has this launcher, and
    `memaudit` where the project is installed.
    """
    called = Path(sys.argv[0])
    if called.stem == INSTALLED:
        return INSTALLED
    if (kept := os.environ.get(CALLED)) in {INSTALLED, LAUNCHER} and called.parts[-2:] != (INSTALLED, "__main__.py"):
        return kept
    return LAUNCHER if (PROJECT / INSTALLED).is_file() else INSTALLED


def workflow_command() -> str:
    """What runs the workflow, as the user has called it: Snakemake, or `memaudit run` where a subcommand was called."""
    return f"{program()} run" if CALLED in os.environ else "snakemake"


def remember() -> None:
    """Keep the name for the processes that this one starts: jobs of a run write pages that name the command."""
    os.environ[CALLED] = program()
