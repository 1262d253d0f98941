"""Exact discrete noise from OpenDP: drawn from the operating system's randomness, never from the seed of a run.

Noise on floating-point numbers leaks through the gaps between them (Mironov 2012): values are integers instead
(Canonne, Kamath and Steinke 2020).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from opendp.core import Measurement
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import enable_features

from memaudit.common.errors import AuditError

Noise = Callable[[NDArray[np.int64], float], NDArray[np.int64]]

# OpenDP counts every measurement as contributed, the discrete ones too.
enable_features("contrib")


def discrete_gaussian(center: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
    """center, any shape, plus independent noise k with probability proportional to exp(-k^2 / (2 sigma^2)).

    rho-zCDP with rho = s^2 / (2 sigma^2) for L2 sensitivity s. Raises AuditError unless sigma > 0.
    """
    return _noisy(make_gaussian, l2_distance(T="f64"), center, sigma)


def discrete_laplace(center: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    """center, any shape, plus independent noise k with probability proportional to exp(-|k| / scale).

    (s / scale)-DP for L1 sensitivity s. Raises AuditError unless scale > 0.
    """
    return _noisy(make_laplace, l1_distance(T="f64"), center, scale)


def _noisy(make: Callable[..., Measurement], metric, center: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    if not 0 < scale < np.inf:
        raise AuditError(f"noise: a scale of {scale} protects nothing; give a positive, finite number")
    measurement = make(vector_domain(atom_domain(T="i64")), metric, scale=float(scale))
    return np.array(measurement(np.ravel(center).tolist()), dtype=np.int64).reshape(np.shape(center))
