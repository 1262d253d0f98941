"""Named values in the files of config/views/.

`$name` alone stands for the value itself, whatever its type; as an item of a list it adds the items of a list;
`{$name}` or `{$name:.3g}` within a text is the value as text. A list item with `each: {name: $values}` is repeated for
every value, which is called `$name` in it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memaudit.config.name_checks import hint

WHOLE = re.compile(r"\$(\w+)")
WITHIN = re.compile(r"\{\$(\w+)(?::([^{}]*))?\}")


class Filling:
    """Puts named values into what a file holds; `faults` are unknown names and values that a format does not fit."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def fill(self, value: Any, path: str, names: Mapping[str, Any]) -> Any:
        """A value, or all that it holds, with names replaced by their values; path: where it stands, for `faults`."""
        if isinstance(value, str):
            return self._text(value, path, names)
        if isinstance(value, dict):
            return {key: self.fill(part, f"{path}/{key}".strip("/"), names) for key, part in value.items()}
        if isinstance(value, list):
            return [part for place, item in enumerate(value) for part in self._items(item, f"{path}/{place}", names)]
        return value

    def _items(self, item: Any, path: str, names: Mapping[str, Any]) -> Iterator[Any]:
        if isinstance(item, dict) and "each" in item:
            each = self.fill(item["each"], f"{path}/each", names)
            if not (isinstance(each, dict) and len(each) == 1 and isinstance(next(iter(each.values())), list)):
                self.faults.append(f"{path}/each: must be one name with a list of values")
                return
            (name, values), rest = next(iter(each.items())), {key: item[key] for key in item if key != "each"}
            yield from (self.fill(rest, path, {**names, name: value}) for value in values)
            return
        filled = self.fill(item, path, names)
        if isinstance(item, str) and WHOLE.fullmatch(item) and isinstance(filled, list):
            yield from filled
        else:
            yield filled

    def _text(self, text: str, path: str, names: Mapping[str, Any]) -> Any:
        if whole := WHOLE.fullmatch(text):
            return self._value(whole[1], path, names)
        return WITHIN.sub(lambda found: self._formatted(found, path, names), text)

    def _formatted(self, found: re.Match, path: str, names: Mapping[str, Any]) -> str:
        value = self._value(found[1], path, names)
        try:
            return format(value, found[2] or "")
        except (TypeError, ValueError):
            self.faults.append(f"{path}: {found[0]} does not fit {value!r}")
            return ""

    def _value(self, name: str, path: str, names: Mapping[str, Any]) -> Any:
        if name not in names:
            self.faults.append(f"{path}: unknown name ${name}{hint(name, list(names))}")
            return 0
        return names[name]
