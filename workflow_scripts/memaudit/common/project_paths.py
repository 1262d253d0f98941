"""Where the project's own files and those of a config stand. Standard library only: the Snakefile imports it."""

import os
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]
PROJECT = SCRIPTS.parent
ENVS = PROJECT / "envs"
# Environment variable: the folder where an audit was called, whose jobs work in another one.
CALLED_FROM = "MEMAUDIT_CALLED_FROM"


def config_path(path: str | Path) -> Path:
    """The file or folder that a config names: of the working folder, or the project's where it alone has it.

    A leading ~ is the user's home.
    """
    named = Path(os.path.expanduser(path))
    return PROJECT / named if not named.exists() and (PROJECT / named).exists() else named


def python_of(environment: str) -> Path:
    """Python of a virtual environment: of the working folder, else where an audit was called, else the project's.

    Where there is none, the path that it would have in the folder where the user is.
    """
    folders = [Path(), *([Path(os.environ[CALLED_FROM])] if CALLED_FROM in os.environ else []), PROJECT]
    found = [folder / environment / "bin" / "python" for folder in folders]
    return next((path for path in found if path.exists()), found[-2]).absolute()
