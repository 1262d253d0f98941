"""Numbers of models and records that an evaluation needs, for the worst case, before any model is trained."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scipy.stats import norm

from memaudit.statistics.bootstrap import LEVEL

# Section 4 of "On Reliability of Efficient Membership Inference Evaluation" asks for M >= 2/FPR, one OUT score above a
# record's threshold on average; its Section 1 advises 10/FPR.
LEAST, ADVISED = 1, 5


def models_for_fpr(fpr: float, above: int = LEAST) -> int:
    """Shadow models M of which `above` OUT scores of a record, M/2 in all, lie above its own threshold at this FPR."""
    return math.ceil(2 * above / fpr - 1e-9)


def models_for_width(width: float) -> int:
    """Shadow models M for a 95 % interval of one record's TPR, M/2 IN scores, no wider than `width` whatever the TPR.

    The threshold is taken as known. Normal approximation of the binomial at its widest, TPR 1/2:
    width = 2 z / (2 sqrt(M/2)).
    """
    return 2 * each_for_width(width)


def each_for_width(width: float) -> int:
    """Records, and as many models, for a 95 % interval of the records' mean TPR no wider than `width`.

    Both are samples. A hit is 0 or 1, so that the variances between records, between models and within a cell add up to
    1/4 at most (two-way bootstrap, Owen 2007); the worst case is all of it on the side of which there are fewer:
    width = 2 z / (2 sqrt(min(R, M))). More of one never makes up for fewer of the other. Thresholds are taken as known.
    """
    return math.ceil((norm.isf((1 - LEVEL) / 2) / width) ** 2)


class Requirement(NamedTuple):
    """A number that an evaluation needs, what it is for, and which of those there are fall short of it."""

    count: int
    purpose: str
    short: list[str]


def requirements(models: int, records: Mapping[str, int], fprs: Sequence[float], width: float) -> Iterator[Requirement]:
    """Needs of an evaluation with this number of shadow models, and of records by data set.

    fprs: at which records have thresholds of their own; width: of the 95 % intervals.
    """
    for fpr in fprs:
        advised = f"{models_for_fpr(fpr, ADVISED):,} are advised"
        yield _of_models(models, models_for_fpr(fpr), f"a threshold of each record's own at FPR {fpr:g}, {advised}")
    purpose = f"a 95 % interval of one record's TPR of width {width:g} at a known threshold"
    yield _of_models(models, models_for_width(width), purpose)
    each = each_for_width(width)
    short = [name for name, count in (records | {"models": models}).items() if count < each]
    yield Requirement(each, "records, and as many models, for one of the records' mean TPR at known thresholds", short)


def _of_models(models: int, needed: int, purpose: str) -> Requirement:
    return Requirement(needed, f"models for {purpose}", ["models"] if models < needed else [])
