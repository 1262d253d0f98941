"""What a pickle becomes without being executed: names of classes and functions, and calls that are never made.

None of these objects is ever hashed, compared or printed by its content, so that objects that refer to one another many
times over (a pickle of 1 kB can describe 2^60 of them) cost no more than the file is long.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PRIMITIVE = (str, bytes, bytearray, int, float, bool, complex, type(None))


@dataclass(frozen=True, eq=False, slots=True)
class Global:
    """A name that a real unpickler would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False, slots=True)
class Pairs:
    """A dict as its keys and values in order: no key is hashed."""

    pairs: list[tuple[Any, Any]] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """The last value of a key that is this text, None without one."""
        return next((value for key, value in reversed(self.pairs) if isinstance(key, str) and key == name), None)


@dataclass(eq=False, slots=True)
class Made:
    """An object that a real unpickler would make by a call, with what it would set on it afterwards."""

    callee: Any
    arguments: Any
    state: Any = None
    items: list[Any] = field(default_factory=list)
    mapping: Pairs = field(default_factory=Pairs)
    inline: bytes | None = None  # bytes of an array that joblib writes behind the object

    def named(self) -> str:
        """Full name of what is called, empty where that is no name."""
        return str(self.callee) if isinstance(self.callee, Global) else ""

    def attribute(self, name: str) -> Any:
        """An attribute of its state, None without one."""
        parts = self.state if isinstance(self.state, tuple) else (self.state,)
        return next((part.get(name) for part in parts if isinstance(part, Pairs) and part.get(name) is not None), None)


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """Where an object is found: its name in another one. Its text is made only when it is needed."""

    name: str
    above: "Place | None" = None

    def names(self, most: int = 64) -> list[str]:
        """The last names of the path, the innermost last."""
        names, here = [], self
        while here is not None and len(names) < most:
            names.append(here.name)
            here = here.above
        return names[::-1]

    def __str__(self) -> str:
        names = self.names(6)
        return "".join(("... " if len(names) == 6 else "", *names)).removeprefix(".")


def parts(one: Any) -> Iterator[tuple[str, Any]]:
    """The objects within an object, with their names in it: of attributes alone, since a dict's key may be a value."""
    if isinstance(one, list | tuple):
        yield from (("[...]", part) for part in one)
    elif isinstance(one, Pairs):
        yield from (("[...]", value) for _, value in one.pairs)
        yield from (("[key]", key) for key, _ in one.pairs)
    elif isinstance(one, Made):
        states = one.state if isinstance(one.state, tuple) else (one.state,)
        for state in states:
            if isinstance(state, Pairs):
                yield from ((_attribute(key), value) for key, value in state.pairs)
            else:
                yield "", state
        yield from (("", part) for part in (one.callee, one.arguments, one.items, one.mapping))


def _attribute(key: Any) -> str:
    return f".{key}" if isinstance(key, str) and key.isidentifier() and len(key) < 60 else "[...]"
