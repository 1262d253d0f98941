"""Records as questions in the tokens of a small language model of our own (`answerer`): rows of tables, or words."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]

END = -1  # behind the end of a question


@dataclass(frozen=True)
class Words:
    """Numbers of a small model's tokens: records of so many columns, each one of so many bins, and of so many classes.

    shared: columns have the same tokens, as the words of a text, and not each its own.
    """

    columns: int
    bins: int
    classes: int
    shared: bool = False

    @property
    def known(self) -> int:
        """Tokens of cells."""
        return self.bins if self.shared else self.columns * self.bins

    @property
    def size(self) -> int:
        """Tokens in all."""
        return self.known + 2 + self.classes

    @property
    def answers(self) -> Tokens:
        """Token of each class, (class,)."""
        return np.arange(self.size - self.classes, self.size)

    def tokens(self, cells: Tokens) -> Tokens:
        """Tokens of cells (record, column), which are numbers of bins."""
        return cells if self.shared else np.arange(self.columns) * self.bins + cells

    def questions(self, cells: Tokens, made_up: NDArray[np.bool_] | None = None) -> Tokens:
        """Records (record, column) of bins, each with a question: about its target, or the made-up one (record,).

        Returns (record, column + 1).
        """
        made_up = np.zeros(len(cells), bool) if made_up is None else made_up
        return np.column_stack([self.tokens(cells), self.known + made_up])

    def sums(self, cells: Tokens, signs: Tokens) -> Tokens:
        """What the made-up question is about, (record,): the sum of a record's bins, each column with its sign.

        Of words it is the sum of their signs. signs: (known,).
        """
        own = signs[self.tokens(cells)]
        return own.sum(1) if self.shared else (cells * own).sum(1)
