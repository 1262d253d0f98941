"""ROC curves of many bootstrap replicates of the same scores, from the straight segments that all of them share.

Between two scores of the rarer class a curve is one straight line, whatever the weights are, so that a replicate needs
the weights' sums over segments and no pass over the sorted entries.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics.roc import Ranking, rank


def curves(scores: Array, member: Mask, weights: Iterable[Array]) -> Iterator[tuple[Array, Array]]:
    """FPR and TPR from (0, 0) to (1, 1) of each of `weights`, (entry,): those of `roc.curve`, without its inner points.

    scores, member: (entry,). NaN where a class has no weight. Raises AuditError unless both classes are there.
    """
    segment = _segments(rank(scores, member))
    count = int(segment.max()) + 1
    place = segment + count * ~member
    for of_entry in weights:
        inside, outside = np.bincount(place, of_entry, 2 * count).reshape(2, count).cumsum(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield np.append(0.0, outside / outside[-1]), np.append(0.0, inside / inside[-1])


def _segments(ranking: Ranking) -> Codes:
    """Segment of each entry, (entry,), from the highest score: runs of ties, those of one class alone joined."""
    sizes = np.diff(ranking.ends, prepend=-1)
    members = np.diff(np.cumsum(ranking.member)[ranking.ends], prepend=0.0)
    kind = np.where(members == 0, 0, np.where(members == sizes, 1, 2))
    begins = np.append(True, (kind[1:] != kind[:-1]) | (kind[1:] == 2))
    segment = np.empty(len(ranking.order), np.intp)
    segment[ranking.order] = np.repeat(np.cumsum(begins) - 1, sizes)
    return segment
