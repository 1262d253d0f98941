"""Where the project's own files stand. Standard library only: the Snakefile imports it."""

from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]
PROJECT = SCRIPTS.parent
ENVS = PROJECT / "envs"
