"""A warm interpreter for the scripts that tests run: started with the first of them, it ends with the session."""

import os
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from memaudit.workflow import warm_interpreter

_GIVEN = dict(os.environ)  # not what a test has set when the first script is run
_open = ExitStack()


def python() -> str:
    """What to call in place of Python: the script costs no imports."""
    return str(_folder_and_environment()[0] / "python")


def environment() -> dict[str, str]:
    """Environment in which Snakemake has its jobs run by this interpreter."""
    return dict(_folder_and_environment()[1])


def end() -> None:
    """End the interpreter if there is one."""
    _open.close()
    _folder_and_environment.cache_clear()


@cache
def _folder_and_environment() -> tuple[Path, dict[str, str]]:
    folder = Path(_open.enter_context(tempfile.TemporaryDirectory(prefix="memaudit-warm-")))
    return folder, _open.enter_context(warm_interpreter.warm(folder, _GIVEN))
