"""The files behind `--configfile`, which Snakemake reads before the workflow: a traceback where it cannot."""

import json
from collections.abc import Iterable
from pathlib import Path

import yaml

from memaudit.common.errors import AuditError

TOP = "must have keys at its top level, such as `run: mine`; see config/README.md"


def check_files(files: Iterable[str]) -> None:
    """Raise AuditError, with one line for all of them, for files that are no config: absent, unreadable, no mapping."""
    if faults := [f"{file}: {fault}" for file in files if (fault := _fault(file))]:
        raise AuditError("; ".join(faults))


def _fault(file: str) -> str | None:
    path = Path(file)
    if path.is_dir():
        return "is a folder; name a config file behind --configfile"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        rest = "" if path.suffix else ", and targets in front of --configfile"
        return f"there is no such config file; give its path behind --configfile{rest}"
    except OSError as error:
        return f"cannot be read ({error.strerror}); make it readable, or name another config file"
    except UnicodeError:
        return "is no text in UTF-8; save it as such"
    try:
        return None if isinstance(json.loads(text), dict) else TOP
    except ValueError:
        return _yaml_fault(text)


def _yaml_fault(text: str) -> str | None:
    """What is wrong with the syntax; values are the business of the checks of the config."""
    try:
        return None if isinstance(yaml.compose(text, Loader=yaml.SafeLoader), yaml.MappingNode) else TOP
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" in line {mark.line + 1}" if mark else ""
        return f"is no YAML{place} ({error.problem}); indent by blanks and put texts with `:` or `#` in quotes"
    except yaml.YAMLError as error:
        return f"is no YAML ({' '.join(str(error).split())})"
