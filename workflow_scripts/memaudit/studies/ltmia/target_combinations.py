"""What was found of targets of known membership: their scores and features, portions of their texts, error rates."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.attacks.token_features import Rows, open_rows
from memaudit.errors import AuditError
from memaudit.io import read_table
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION

Array = NDArray[np.float64]
# A text of a target, and whether that has learnt it.
TEXT = [*COMBINATION, "id", "member"]
Combinations = dict[tuple[str, str, str], tuple[pd.DataFrame, Rows]]


def open_combinations(rows: Sequence[str], scores: Sequence[str]) -> Combinations:
    """Scores table and packed features of every target, by model, dataset and tuning; features stay on the disk."""
    found = {}
    for features, path in zip(rows, scores, strict=True):
        table, every = read_table(path), open_rows(features)
        for name, own in table.groupby(COMBINATION, sort=False):
            place = slice(own.index[0], own.index[-1] + 1)
            found[name] = own.reset_index(drop=True), every[place]
    return found


def channels_per_place(channels: int) -> int:
    """k of features with so many channels."""
    return (channels - 14) // 7


def portions(ids: Sequence[str], validation: float, test: float) -> dict[str, slice]:
    """Where validation, test and training stand among texts in the order of their ids, by the id alone.

    So a text has the same portion in every combination: one that trains the classifier with one model must not test it
    with another, it would be known again. Raises AuditError for ids in another order.
    """
    places = np.array([int(text[:8], 16) / 16**8 for text in ids])
    if (np.diff(places) < 0).any():
        raise AuditError("portions: the texts are not in the order of their ids; extract their features anew")
    first, second = (int(end) for end in np.searchsorted(places, [validation, validation + test]))
    return {"validation": slice(0, first), "test": slice(first, second), "training": slice(second, len(places))}


def error_rates(scores: Array, held_out: pd.DataFrame) -> pd.DataFrame:
    """What calling texts with at least these scores members would have cost on models of known membership.

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
                f"held-out combination {' '.join(name)} has members or non-members alone; measure errors on both"
            )
        false.append((1 + _at_least(known[~member], scores)) / (1 + np.count_nonzero(~member)))
        true.append(_at_least(known[member], scores) / np.count_nonzero(member))
    if not false:
        raise AuditError("no held-out combination: the errors of the attack are not known; measure them first")
    rates = {"false_positive_rate": np.mean(false, 0), "worst_false_positive_rate": np.max(false, 0)}
    return pd.DataFrame(rates | {"true_positive_rate": np.mean(true, 0)})


def _at_least(known: Array, scores: Array) -> Array:
    """How many of the known scores reach each of the scores."""
    return len(known) - np.searchsorted(np.sort(known), scores, side="left")
