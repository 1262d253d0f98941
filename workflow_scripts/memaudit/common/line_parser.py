"""A parser of command lines that reports an error in one line, and the name by which the command was called."""

import sys
from argparse import ArgumentParser
from pathlib import Path


def program() -> str:
    """`memaudit` where it is installed as a console command, `./memaudit`, the launcher of a checkout, otherwise."""
    return "memaudit" if Path(sys.argv[0]).stem == "memaudit" else "./memaudit"


class LineParser(ArgumentParser):
    """A parser that reports an error in one line, without the usage."""

    def error(self, message: str) -> None:
        """Print the error and exit with 2."""
        print(f"memaudit: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)
