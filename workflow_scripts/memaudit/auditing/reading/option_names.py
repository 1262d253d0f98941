"""Messages of the library's readers of tables, with the options of the command in place of keys of a config."""

import re
from collections.abc import Callable

# What the readers of tables in `data` tell the author of a catalogue, and what the owner of a table can do.
REMEDIES = {
    r"declare it \(types: \{.*: categorical\}\) or list the word under `missing`": (
        "name the column with --categorical, or the word with --missing"
    ),
    r"declare it \(types: \{.*: categorical\}\) or `drop` it": "name the column with --categorical or --drop",
    r"list the word under `missing`": "the word with --missing",
    r"`(decimal|dates): (.+?)`": r"--\1 \2",
    r"`drop` it, or correct `missing`": "leave it out with --drop, or correct --missing",
    r"`drop` the column": "leave the column out with --drop",
    r"correct `target` or the `missing` marks": "name another column with --target, or correct --missing",
    r"see `drop`": "see --drop",
    r"correct it or `types`": "correct it, or its type in schema.yaml",
    r"set `delimiter`": "set --delimiter",
    r"set `encoding` of its source": "set --encoding",
}
# A name from a table as `repr` writes it; an apostrophe within a word begins none.
QUOTED = r"""(?<!\w)(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""


def as_options(message: str) -> str:
    """The message with the options of `./memaudit audit`."""
    for key, option in REMEDIES.items():
        message = outside_names(key, lambda found, option=option: found.expand(option), message)
    return message


def outside_names(pattern: str, replaced: Callable[[re.Match[str]], str], message: str) -> str:
    """The message with what a pattern finds replaced, but for names in quotation marks, which stay as they are."""
    either = re.compile(f"(?:{pattern})|{QUOTED}", re.DOTALL)
    return either.sub(lambda found: found[0] if found["quoted"] else replaced(found), message)
