"""The range of token features that a classifier was trained on, and how far a text lies outside it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memaudit.attacks.token_features import Rows, TokenFeatures, unpack
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError

EDGE = 0.005  # share of the training tokens below, and above, the range of a channel
USUAL = 0.99  # share of measured texts that are no further outside than `usual_share`
TEXTS = 200  # most texts of a combination that the range is taken from


@dataclass(frozen=True)
class FeatureRange:
    """Quantiles of every channel over training tokens, low and high (channel,)."""

    low: list[float]
    high: list[float]

    @classmethod
    def of(cls, training: Sequence[Rows]) -> "FeatureRange":
        """The range of packed rows of several combinations, each with the same weight."""
        tokens = [_tokens(unpack(rows[_spread(len(rows), TEXTS)])) for rows in training]
        fewest = min(map(len, tokens))
        values = np.concatenate([own[_spread(len(own), fewest)] for own in tokens])
        return cls(*np.quantile(values, [EDGE, 1 - EDGE], axis=0).astype(np.float32).tolist())

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], where: str) -> "FeatureRange":
        """The range in a classifier's facts. Raises AuditError, naming `where`, if there is none."""
        try:
            return cls(**facts["range"])
        except (KeyError, TypeError) as error:
            raise AuditError(f"{where}: has no range of training features; train the classifier again") from error

    def facts(self) -> dict[str, Any]:
        """The range for a classifier's card."""
        return asdict(self)

    def outside(self, features: TokenFeatures) -> Array:
        """Share (text,) of each text's features, over its tokens and all channels, that lie outside the range."""
        values = features.values
        beyond = (values < np.float32(self.low)) | (values > np.float32(self.high))
        return (beyond.mean(-1) * features.mask).sum(1) / features.mask.sum(1)

    def outside_of_rows(self, rows: Rows) -> Array:
        """`outside` of packed rows, of which few are in memory at once."""
        starts = range(0, len(rows), TEXTS)
        return np.concatenate([self.outside(unpack(rows[start : start + TEXTS])) for start in starts])


def usual_share(measured: Array) -> float:
    """The share outside the range that 99 % of the texts do not exceed on which an attack was measured (text,)."""
    return float(np.quantile(measured, USUAL))


def _tokens(features: TokenFeatures) -> Array:
    return features.values[features.mask]


def _spread(count: int, most: int) -> np.ndarray:
    """Numbers of at most `most` of `count` things, evenly spread; texts are in the random order of their ids."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
