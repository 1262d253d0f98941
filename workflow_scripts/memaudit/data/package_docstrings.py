"""Which package does this docstring belong to? Beginnings of docstrings of installed packages."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memaudit.data.installed_packages import parsed_files
from memaudit.errors import AuditError

DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
ALIASES = {"np", "pd", "sklearn"}


@dataclass(frozen=True)
class Docstrings:
    """words: (record, word) numbers of the first words of each; codes: (record,) place of the package; texts."""

    words: NDArray[np.int64]
    codes: NDArray[np.int64]
    texts: list[str]


def read_docstrings(
    packages: Sequence[str], words: int, vocabulary: int, each: int, rng: np.random.Generator
) -> Docstrings:
    """`each` docstrings of every package, from its files in random order: their first words that are known.

    Known are the most frequent `vocabulary` words, in lower case, but for the packages' names. Equal beginnings are
    taken once, and not at all where two packages have them. Raises AuditError for a package that is not installed, or
    has too few docstrings.
    """
    hidden = {word for package in packages for word in _words(package)} | ALIASES
    # Twice as many, and twice as long, as what is rare will be left out.
    read = [list(islice(_told(package, hidden, 2 * words, rng), 2 * each)) for package in packages]
    counts = Counter(word for texts in read for text in texts for word in text)
    known = sorted(counts, key=lambda word: (-counts[word], word))[:vocabulary]
    number = {word: place for place, word in enumerate(known)}
    rows = [[tuple([number[word] for word in text if word in number][:words]) for text in texts] for texts in read]
    of_package = Counter(row for texts in rows for row in set(texts))
    found = []
    for package, texts in zip(packages, rows, strict=True):
        whole = [row for row in dict.fromkeys(texts) if len(row) == words and of_package[row] == 1]
        if len(whole) < each:
            raise AuditError(
                f"docstrings: {package} has {len(whole)} with {words} known words, {each} are asked for; ask for fewer"
                " records or words, or take another package"
            )
        found += whole[:each]
    texts = [" ".join(known[word] for word in row) for row in found]
    return Docstrings(np.array(found), np.repeat(np.arange(len(packages)), each), texts)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _told(package: str, hidden: set[str], least: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Words of one docstring after the other, of those that have so many."""
    for _, tree in parsed_files(package, rng):
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                told = [word for word in _words(text) if word not in hidden]
                if len(told) >= least:
                    yield told
