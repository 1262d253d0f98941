"""A parser of command lines that reports an error in one line."""

import difflib
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Mapping, Sequence
from types import MappingProxyType


class LineParser(ArgumentParser):
    """A parser that reports an error in one line, without the usage.

    remedies: what to do about an error, by the error.
    """

    remedies: Mapping[str, str] = MappingProxyType({})

    def error(self, message: str) -> None:
        """Print the error and exit with 2."""
        remedy = f": {self.remedies[message]}" if message in self.remedies else ""
        print(f"memaudit: {message}{remedy}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Namespace | None = None) -> Namespace:
        """The options; an unknown one is an error of the subcommand that was called, with the closest known one."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            called = self._called(options)
            called.error(f"unrecognized arguments: {' '.join(unknown)}{called._meant(unknown)}")
        return options

    def _called(self, options: Namespace) -> "LineParser":
        """The parser of the subcommand that was called, this one if it has none."""
        parts = [one for one in self._actions if isinstance(one, _SubParsersAction)]
        return parts[0].choices[getattr(options, parts[0].dest)] if parts else self

    def _meant(self, unknown: Sequence[str]) -> str:
        """The option that is closest to the first unknown one."""
        given = next((one.partition("=")[0] for one in unknown if one.startswith("--")), "")
        close = difflib.get_close_matches(given, self._option_string_actions, n=1)
        return f"; did you mean {close[0]}?" if close else ""
