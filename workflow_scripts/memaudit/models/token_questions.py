"""Records as questions in the tokens of a small language model (`language_model_classifiers`): table rows, or words."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Mask

Tokens = NDArray[np.int64]

END = -1  # after the end of a question


@dataclass(frozen=True)
class Words:
    """Vocabulary of a small model: tokens of the bins of each column, of two questions and of the classes.

    shared: all columns have the same tokens, like the words of a text.
    """

    columns: int
    bins: int
    classes: int
    shared: bool = False

    @property
    def known(self) -> int:
        """Number of tokens of cells."""
        return self.bins if self.shared else self.columns * self.bins

    @property
    def size(self) -> int:
        """Number of all tokens."""
        return self.known + 2 + self.classes

    @property
    def answers(self) -> Tokens:
        """Token of each class, (class,)."""
        return np.arange(self.size - self.classes, self.size)

    def tokens(self, cells: Tokens) -> Tokens:
        """Return the tokens of cells (record, column), which are numbers of bins."""
        return cells if self.shared else np.arange(self.columns) * self.bins + cells

    def questions(self, cells: Tokens, synthetic: Mask | None = None) -> Tokens:
        """Return records (record, column) of bins as tokens with a question (record, column + 1).

        synthetic: (record,), whether the question is the synthetic one and not that about the target.
        """
        synthetic = np.zeros(len(cells), bool) if synthetic is None else synthetic
        return np.column_stack([self.tokens(cells), self.known + synthetic])

    def sums(self, cells: Tokens, signs: Tokens) -> Tokens:
        """Subject of the synthetic question (record,): the sum of a record's bins, each column with its sign.

        Of words it is the sum of their signs. signs: (known,).
        """
        own = signs[self.tokens(cells)]
        return own.sum(1) if self.shared else (cells * own).sum(1)
