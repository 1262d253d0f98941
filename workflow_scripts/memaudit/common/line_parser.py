"""A parser of command lines that reports an error in one line."""

import sys
from argparse import ArgumentParser


class LineParser(ArgumentParser):
    """A parser that reports an error in one line, without the usage."""

    def error(self, message: str) -> None:
        """Print the error and exit with 2."""
        print(f"memaudit: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)
