"""From Renyi differential privacy at given orders to epsilon at delta, and to delta at epsilon.

Canonne, Kamath and Steinke 2020, Proposition 12, at each order above 1.
"""

import numpy as np

from memaudit.common.arrays import Array


def epsilon_of_rdp(orders: Array, divergences: Array, delta: float) -> Array:
    """Epsilon at delta of each order, for a Renyi divergence of at most `divergences` there; the least one holds."""
    orders = np.asarray(orders, np.float64)
    return np.maximum(0.0, divergences + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1))


def deltas_of_rdp(orders: Array, divergences: Array, epsilons: Array) -> Array:
    """(epsilon,) delta at each epsilon, the least over all orders."""
    fixed = (orders - 1) * (divergences + np.log1p(-1 / orders)) - np.log(orders)
    exponents = (fixed - np.multiply.outer(epsilons, orders - 1)).min(axis=1)
    return np.exp(np.minimum(0.0, exponents))
