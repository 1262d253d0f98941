"""Classification data: first words of docstrings of installed packages, with the package as the class."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memaudit.common.errors import AuditError
from memaudit.data.installed_packages import parsed_files

DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
ALIASES = {"np", "pd", "sklearn"}


@dataclass(frozen=True)
class Docstrings:
    """Docstrings: words (record, word), numbers of their first words; codes (record,), place of the package; texts."""

    words: NDArray[np.int64]
    codes: NDArray[np.int64]
    texts: list[str]


def read_docstrings(
    packages: Sequence[str], words: int, vocabulary: int, each: int, rng: np.random.Generator
) -> Docstrings:
    """Read `each` docstrings of every package, from its files in random order: their first words of the vocabulary.

    The vocabulary holds the most frequent `vocabulary` words, in lower case, without the packages' names. Equal
    beginnings are used once, and not at all where two packages have them. Raises AuditError for a package that is not
    installed, or has too few docstrings.
    """
    hidden = {word for package in packages for word in _words(package)} | ALIASES
    # Twice as many, and twice as long, since rare words will be left out.
    read = [list(islice(_documented_words(package, hidden, 2 * words, rng), 2 * each)) for package in packages]
    counts = Counter(word for texts in read for text in texts for word in text)
    known = sorted(counts, key=lambda word: (-counts[word], word))[:vocabulary]
    number = {word: place for place, word in enumerate(known)}
    rows = [[tuple([number[word] for word in text if word in number][:words]) for text in texts] for texts in read]
    of_package = Counter(row for texts in rows for row in set(texts))
    kept_rows = []
    for package, texts in zip(packages, rows, strict=True):
        whole = [row for row in dict.fromkeys(texts) if len(row) == words and of_package[row] == 1]
        if len(whole) < each:
            raise AuditError(
                f"docstrings: {package} has {len(whole)} with {words} known words, {each} are needed; set fewer"
                " records or words, or take another package"
            )
        kept_rows += whole[:each]
    texts = [" ".join(known[word] for word in row) for row in kept_rows]
    return Docstrings(np.array(kept_rows), np.repeat(np.arange(len(packages)), each), texts)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _documented_words(package: str, hidden: set[str], least: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield the words of each docstring that has at least `least` of them."""
    for _, tree in parsed_files(package, rng):
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                kept = [word for word in _words(text) if word not in hidden]
                if len(kept) >= least:
                    yield kept
