"""LiRA's signal of probabilities that are published with few digits."""

import numpy as np
from scipy.special import logit

from memaudit.common.arrays import Array


def rounded_confidence(probabilities: Array, decimals: int) -> Array:
    """Logit of the true label's probability after rounding, in units of the step that rounding takes at each record.

    probabilities: (model, record); clipped to [r/2, 1 - r/2] with r = 10^-decimals, so that no signal is infinite. The
    likelihood ratio of a record does not depend on its unit, but a floor of sigma does: in steps the floor is
    attacks.lira.resolution_floor(1) for all records, the deviation due to rounding alone. The step is the mean over all
    models, IN and OUT, so it does not depend on membership. Where rounding leaves one value, the signal is 0.
    """
    unit = 10.0**-decimals

    def signal(p: Array) -> Array:
        return logit(np.clip(p, unit / 2, 1 - unit / 2))

    rounded = np.round(probabilities, decimals)
    below, above = np.maximum(rounded - unit, 0.0), np.minimum(rounded + unit, 1.0)
    steps = (signal(above) - signal(below)) / np.maximum(np.round((above - below) / unit), 1)
    step = steps.mean(0)
    return np.divide(signal(rounded), step, out=np.zeros_like(rounded), where=step > 0)
