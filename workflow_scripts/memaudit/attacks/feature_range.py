"""The range of token features that a classifier was trained on, and how far a text lies outside it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memaudit.attacks.token_features import Rows, TokenFeatures, unpack
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError

EDGE = 0.005  # share of the training tokens below, and above, the range of a channel
USUAL = 0.99  # share of validation texts that are not unusual
TEXTS = 200  # most texts of a combination that the range is taken from


@dataclass(frozen=True)
class FeatureRange:
    """Quantiles of every channel over training tokens, low and high (channel,).

    usual: the share of a text's features outside them that 99 % of the validation texts do not exceed.
    """

    low: list[float]
    high: list[float]
    usual: float

    @classmethod
    def of(cls, training: Sequence[Rows], validation: Sequence[Rows]) -> "FeatureRange":
        """The range of packed rows, each combination with the same weight; `usual` is that of the validation rows."""
        tokens = [_tokens(unpack(rows[_spread(len(rows))])) for rows in training]
        fewest = min(map(len, tokens))
        values = np.concatenate([own[_spread(len(own), fewest)] for own in tokens])
        low, high = np.quantile(values, [EDGE, 1 - EDGE], axis=0).astype(np.float32).tolist()
        widest = cls(low, high, 1.0)
        shares = [widest.outside(unpack(rows[_spread(len(rows))])) for rows in validation]
        return cls(low, high, float(np.quantile(np.concatenate(shares), USUAL)))

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


def _tokens(features: TokenFeatures) -> Array:
    return features.values[features.mask]


def _spread(count: int, most: int = TEXTS) -> np.ndarray:
    """Numbers of at most `most` of `count` things, evenly spread; texts are in the random order of their ids."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
