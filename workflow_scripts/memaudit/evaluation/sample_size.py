"""How many models and records does an evaluation need? Worst cases, known before anything is computed."""

import math

from scipy.stats import norm

from memaudit.evaluation.bootstrap import LEVEL

# Section 4 of "On Reliability of Efficient Membership Inference Evaluation" asks for M >= 2/FPR, one OUT score above a
# record's threshold on average; its Section 1 advises 10/FPR.
LEAST, ADVISED = 1, 5


def models_for_fpr(fpr: float, above: int = LEAST) -> int:
    """Shadow models M of which `above` OUT scores of a record, M/2 in all, lie above its own threshold at this FPR."""
    return math.ceil(2 * above / fpr - 1e-9)


def models_for_width(width: float) -> int:
    """Shadow models M for a 95 % interval of one record's TPR, M/2 IN scores, no wider than `width` whatever the TPR.

    Normal approximation of the binomial at its widest, TPR 1/2: width = 2 z / (2 sqrt(M/2)).
    """
    return 2 * records_for_width(width)


def records_for_width(width: float) -> int:
    """Records for a 95 % interval of their mean TPR no wider than `width`, however many models there are.

    Records are a sample, and their TPRs lie between 0 and 1: no standard deviation is larger than 1/2. Few models add
    to it (two-way bootstrap, Owen 2007).
    """
    return math.ceil((norm.isf((1 - LEVEL) / 2) / width) ** 2)
