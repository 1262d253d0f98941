"""Where the project's own files and those of a config stand. Standard library only: the Snakefile imports it."""

import os
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]
PROJECT = SCRIPTS.parent
ENVS = PROJECT / "envs"


def user_folder(variable: str, otherwise: str) -> Path:
    """`memaudit` in this user's XDG folder that the environment's variable names; otherwise: below the home."""
    given = os.environ.get(variable, "")
    # A relative path is to be ignored (XDG Base Directory Specification 0.8).
    return (Path(given) if given.startswith("/") else Path.home() / otherwise) / "memaudit"


def config_path(path: str | Path) -> Path:
    """The file or folder that a config names: of the working folder, or the project's where it alone has it.

    A leading ~ is the user's home.
    """
    named = Path(os.path.expanduser(path))
    return PROJECT / named if not named.exists() and (PROJECT / named).exists() else named
