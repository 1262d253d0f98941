"""Where the project's own files and those of a config stand. Standard library only: the Snakefile imports it."""

import os
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]
PROJECT = SCRIPTS.parent
ENVS = PROJECT / "envs"


def config_path(path: str | Path) -> Path:
    """The file or folder that a config names: of the working folder, or the project's where it alone has it.

    A leading ~ is the user's home.
    """
    named = Path(os.path.expanduser(path))
    return PROJECT / named if not named.exists() and (PROJECT / named).exists() else named
