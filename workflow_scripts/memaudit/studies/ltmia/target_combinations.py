"""Combinations of model, corpus and tuning: scores and features of their targets, portions of texts, error rates."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from memaudit.attacks.token_features import Rows, open_rows
from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION

TEXT = [*COMBINATION, "id", "member"]  # a text of a target, and whether it is a member
Combinations = dict[tuple[str, str, str], tuple[pd.DataFrame, Rows]]


def open_combinations(
    rows: Sequence[str], scores: Sequence[str], only: Sequence[tuple[str, str, str]] | None = None
) -> Combinations:
    """Scores table and packed features of every target, by model, dataset and tuning; features stay on disk.

    only: the combinations to open, None for all.
    """
    combinations = {}
    for features, path in zip(rows, scores, strict=True):
        table, packed = read_table(path), open_rows(features)
        for name, own in table.groupby(COMBINATION, sort=False):
            if only is not None and name not in only:
                continue
            place = slice(own.index[0], own.index[-1] + 1)
            combinations[name] = own.reset_index(drop=True), packed[place]
    return combinations


def channels_per_place(channels: int) -> int:
    """Number k of highest and lowest tokens of a position, of features with this number of channels."""
    return (channels - 14) // 7


def portions(ids: Iterable[str], validation: float, test: float) -> dict[str, slice]:
    """Places of validation, test and training texts among texts in the order of their ids, by the id alone.

    A text has the same portion in every combination: a classifier that was trained on it with one model must not be
    tested on it with another. Raises AuditError for ids in another order.
    """
    shares = np.array([int(text[:8], 16) / 16**8 for text in ids])
    if (np.diff(shares) < 0).any():
        raise AuditError("portions: the texts are not in the order of their ids; extract their features again")
    first, second = (int(end) for end in np.searchsorted(shares, [validation, validation + test]))
    return {"validation": slice(0, first), "test": slice(first, second), "training": slice(second, len(shares))}


def error_rates(scores: Array, held_out: pd.DataFrame) -> pd.DataFrame:
    """Error rates on models of known membership if texts with at least these scores are called members.

    held_out: columns model, dataset, tuning, member, score, of models and texts that trained no part of the classifier.
    Columns: false_positive_rate, the mean over combinations of (1 + non-members with such a score) / (1 + non-members),
    never 0; worst_false_positive_rate, the highest of a combination; true_positive_rate, the mean of members' shares.
    Raises AuditError where a combination lacks members or non-members.
    """
    false, true = [], []
    for name, own in held_out.groupby(COMBINATION):
        member, known = own["member"].to_numpy(dtype=bool), own["score"].to_numpy()
        if member.all() or not member.any():
            raise AuditError(
                f"held-out combination {' '.join(name)} has only members or only non-members; measure errors on both"
            )
        false.append((1 + _at_least(known[~member], scores)) / (1 + np.count_nonzero(~member)))
        true.append(_at_least(known[member], scores) / np.count_nonzero(member))
    if not false:
        raise AuditError("no held-out combination: the errors of the attack are unknown; measure them first")
    rates = {"false_positive_rate": np.mean(false, 0), "worst_false_positive_rate": np.max(false, 0)}
    return pd.DataFrame(rates | {"true_positive_rate": np.mean(true, 0)})


def _at_least(known: Array, scores: Array) -> Array:
    """Number of known scores that reach each of the scores."""
    return len(known) - np.searchsorted(np.sort(known), scores, side="left")
