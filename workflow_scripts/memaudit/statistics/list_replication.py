"""How much of a list of the most vulnerable records as many other models would name again.

Each draw takes the distribution of the scores and every record's own score from their posterior (empirical Bayes),
draws what other models would observe, and ranks the records by that. Spearman and Brown's formula does not hold for
lists: where the list is longer than the records that leak it predicts too much, since the rest of the list is chance.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.statistics.record_vulnerability import Population


class Replicated(NamedTuple):
    """Share of a list that other models name again: mean over draws, and the least of them, a lower bound."""

    mean: float
    low: float


def replicated(
    population: Population, signals: Array, membership: Mask, lists: Mapping[str, int], rng: np.random.Generator
) -> dict[str, Replicated]:
    """By name of the list, the share of it that as many other models would name.

    population: of the scores; signals, membership: (model, record); lists: their lengths. Records of constant signals
    are left out, as `split_half_agreement` does; without others all is NaN. One
    more draw is below the least of the 50 of `Population.repeated` in 2 %. Signals of few values, such as labels, agree
    more than the posterior of normal ones says: the mean is then too low. Where more records leak alike than the list
    is long, chance names some of them, and the mean is a little too high: the prior cannot tell equal from nearly equal
    scores.
    """
    varied = np.ptp(signals, axis=0) > 0
    signals, membership, records = signals[:, varied], membership[:, varied], np.count_nonzero(varied)
    if records < 2:
        return dict.fromkeys(lists, Replicated(np.nan, np.nan))
    lengths = {name: max(1, min(length, records - 1)) for name, length in lists.items()}
    places = {name: _first(population.scores(signals, membership), length, rng) for name, length in lengths.items()}
    shares: dict[str, list[float]] = {name: [] for name in lists}
    for scores in population.repeated(signals, membership, rng):
        for name, length in lengths.items():
            shares[name].append(len(np.intersect1d(places[name], _first(scores, length, rng))) / length)
    return {name: Replicated(float(np.mean(found)), min(found)) for name, found in shares.items()}


def _first(scores: Array, length: int, rng: np.random.Generator) -> Array:
    """Positions of the largest scores, ties in random order."""
    return np.lexsort((rng.random(len(scores)), -scores))[:length]
