"""Where a key of the config stands: file and line, for messages."""

from collections.abc import Sequence
from pathlib import Path

import yaml


def place(path: Sequence[str], files: Sequence[str | Path]) -> str:
    """File and line of a key, as the end of a message; empty if no file has it, nor the section that lacks it.

    files: the config files, later ones override earlier ones.
    """
    for file in reversed(files):
        try:
            node = yaml.compose(Path(file).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except (OSError, UnicodeError, yaml.YAMLError):
            continue  # JSON of a kind that YAML is not, or a file of another place: the message has no line then
        line = _line(node, path)
        if line:
            return f" ({file}, line {line})"
    return ""


def _line(node: yaml.Node | None, path: Sequence[str]) -> int | None:
    """Line of a key below a node; of the section where the last key is missing; None if that is not there, either."""
    line = None
    for step, part in enumerate(path):
        children: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(node, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = {str(place): (value, value) for place, value in enumerate(node.value)}
        if part not in children:
            return line if step == len(path) - 1 else None
        key, node = children[part]
        line = key.start_mark.line + 1
    return line
