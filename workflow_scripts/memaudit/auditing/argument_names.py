"""Messages of an audit with the arguments of `memaudit.audit` in place of the options of the command."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from memaudit.auditing.request import Request
from memaudit.auditing.runner import Settings
from memaudit.common.errors import AuditError

DATA = {"target": "y", "group": "groups"}  # arguments that hold values; their columns have no names of the user's
RENAMED = DATA | {"epsilon": "epsilons", "into": "into", "model": "model"}
FROM_FILES = ("table", "name", "delimiter", "encoding")  # of a request; a table in memory has none of them
OF_TABLES = tuple(  # arguments of `audit` that are fields of a request
    one.name for one in fields(Request) if one.name not in (*FROM_FILES, *DATA, "task", "by", "infer", "seed")
)
FLAGS = {one.name for kind in (Request, Settings) for one in fields(kind) if one.type is bool}
ARGUMENTS = {one.name: one.name for kind in (Request, Settings) for one in fields(kind) if one.name not in FROM_FILES}
ARGUMENTS |= RENAMED
# An option of the command that no quotation mark precedes, as in a column's name, and its value, where it has one.
OPTION = re.compile(r"(?<![\w'\"-])--([a-z]+(?:-[a-z]+)*)((?: (?:'(?:[^'\\]|\\.)*'|[A-Z]+\b))?)")
CHOICES = re.compile(r"(?<![\w'\"-])--(task|threats) (classification|regression|labels|poison|white-box|linkability)\b")


def as_arguments(message: str) -> str:
    """The message with the arguments of `memaudit.audit`: `rows=` for `--rows`, `groups` for `--group`."""
    return OPTION.sub(_argument, CHOICES.sub(r"--\1 '\2'", message))


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
