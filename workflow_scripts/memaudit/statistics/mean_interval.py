"""Student's t interval of a mean."""

import numpy as np
from scipy.stats import t as student

from memaudit.common.arrays import Array
from memaudit.statistics.bootstrap import LEVEL


def half_width(values: Array) -> float:
    """Half of the width of the 95 % interval of the mean of independent values, (repeat,), at least two."""
    return float(student.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
