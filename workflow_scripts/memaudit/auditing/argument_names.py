"""Messages of an audit with the arguments of `memaudit.audit` in place of the options of the command."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, get_origin

import numpy as np

from memaudit.auditing.reading.option_names import outside_names
from memaudit.auditing.reading.request import Request
from memaudit.auditing.runner import Settings
from memaudit.common.errors import AuditError
from memaudit.config.name_checks import hint

DATA = {"target": "target", "group": "groups"}  # arguments that name these columns, or hold their values
RENAMED = DATA | {"into": "into", "model": "model"}
FROM_FILES = ("table", "name", "delimiter", "encoding")  # of a request; a table in memory has none of them
INTERNAL = ("folder", "models", "params", "labels")  # of settings; `audit` finds them
OF_TABLES = tuple(  # arguments of `audit` that are fields of a request
    one.name for one in fields(Request) if one.name not in (*FROM_FILES, *DATA, "task", "by", "infer", "seed")
)
OF_SETTINGS = tuple(one.name for one in fields(Settings) if one.name not in INTERNAL)
READ = "a table in memory is read already; leave it out"
FILES = "files of predictions are audited by the command: `memaudit audit --predictions`"
# Options of the command that `audit` lacks, and what to do instead.
INSTEAD = {
    "delimiter": READ,
    "encoding": READ,
    "predictions": FILES,
    "reference": FILES,
    "id": FILES,
    "profile": "give snakemake=['--profile', NAME]",
    "fail_above": "compare the report's numbers, such as report.summary.headline.auc.low > 0.6",
}
FLAGS = {one.name for kind in (Request, Settings) for one in fields(kind) if one.type is bool}
COLUMNS = ("by", "infer", "drop", "categorical")  # arguments that name columns
LISTS = {one.name for kind in (Request, Settings) for one in fields(kind) if get_origin(one.type) is Sequence}
ARGUMENTS = {name: name for name in ("task", "by", "infer", "seed", *OF_TABLES, *OF_SETTINGS)} | RENAMED
# An option of the command and its value, where it has one.
VALUE = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[A-Z]+\b|\d+(?:\.\d+)?(?:e-?\d+)?\b"
OPTION = rf"(?<![\w-])--([a-z]+(?:-[a-z]+)*)((?: (?:{VALUE}))?)"
CHOICES = r"(?<![\w-])--(task|threats) (classification|regression|labels|poison|white-box|linkability)\b"


def as_arguments(message: str) -> str:
    """The message with the arguments of `memaudit.audit`: `rows=` for `--rows`, `groups` for `--group`."""
    chosen = outside_names(CHOICES, lambda found: f"--{found[1]} '{found[2]}'", message)
    return outside_names(OPTION, _argument, chosen)


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plain values, a single one as a list where the command takes several.

    Raises AuditError for a name that is none of `ARGUMENTS`, with what was probably meant or is to be done instead.
    """
    for name in arguments:
        if why := INSTEAD.get(name):
            raise AuditError(f"{name}: is no argument of memaudit.audit; {why}")
        if name not in ARGUMENTS.values():
            raise AuditError(f"{name}: is no argument of memaudit.audit{hint(name, [*ARGUMENTS.values(), 'name'])}")
    return {name: _plain(name, value) for name, value in arguments.items()}


def _plain(name: str, value: Any) -> Any:
    """A value that YAML and JSON can hold, which numbers of numpy are not."""
    if isinstance(value, np.generic | np.ndarray) and not np.ndim(value):
        value = value.item()
    if name not in LISTS:
        return value
    if value is None:
        return []
    one_alone = isinstance(value, str) or not isinstance(value, Iterable)
    values = [_plain("", one) for one in ([value] if one_alone else value)]
    return [*map(str, values)] if name in COLUMNS else values  # those of an array are called 0, 1, ...


@contextmanager
def named_as_arguments() -> Iterator[None]:
    """Raise the errors of the block with arguments in place of options."""
    try:
        yield
    except AuditError as error:
        error.args = (as_arguments(str(error)),)
        raise


def _argument(found: re.Match[str]) -> str:
    option = found[1].replace("-", "_")
    if (name := ARGUMENTS.get(option)) is None:
        return found[0]  # of another command
    if option in DATA:
        return name
    if value := found[2].strip():
        return f"{name}={value}"
    at_fault = not found.start() and found.string[found.end() :].startswith(":")
    return name if at_fault else f"{name}={'True' if name in FLAGS else ''}"
