"""Linear and logistic regression by gradient descent with Gaussian noise: a strong simple private baseline.

Full-batch descent on convex losses, as in the localised analyses of Bassily, Smith and Thakurta (2014) without
subsampling: multinomial logistic regression for classes, linear regression for a number target. Inputs are those of
the DP-SGD network: numbers scaled to [-1, 1] by public bounds, one-hot categories, and a constant. Every step releases
one sum of gradients with noise; the model is the mean of the weights of the second half of the steps.

Sensitivity. A record's gradient is clipped to norm `clip`, so that in units of `clip` its norm is at most 1. It is
rounded towards zero to a lattice of 1/STEPS, which increases no entry: its squared norm is a whole number of at most
STEPS^2, whatever the floating-point error before rounding. The records of a privacy unit share its weight of one
(privacy/unit_lattice.py), so by the triangle inequality adding or removing a unit moves the sum by at most STEPS in L2
norm. That needs other records' lattice points to stay as they are: a product of matrices by BLAS blocks records, so
that last bits depend on their number and order. `scores` adds entry by entry instead. Nothing else reads a record: the
step size uses the nominal number of records, which is public.

Account. The steps are Gaussian mechanisms with sigma fixed in advance, each may depend on earlier ones, and discrete
noise from the operating system is added to integers: `accounting.delta_of`, an exact upper bound.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from memaudit.common.arrays import Array, Array32
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget, Mechanism, delta_of, gaussian_sigma
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Private, Targets
from memaudit.privacy.unit_lattice import STEPS, lattice_contributions

# Rates that were good on breast_cancer, adult, credit-g, diabetes, abalone and cpu-small. A squared error is twice as
# curved as a logistic loss or more, and its steps diverge sooner.
RATES = {"classification": 4.0, "regression": 0.5}


@dataclass(frozen=True)
class Settings:
    """Training, all public.

    steps: releases of a sum of gradients; clip: largest norm of a record's gradient; learning_rate: of the
    mean gradient, times `RATES` of the task; penalty: weight of half the squared norm of the weights.
    """

    steps: int = 100
    clip: float = 1.0
    learning_rate: float = 1.0
    penalty: float = 1e-3


@dataclass(frozen=True)
class Linear:
    """A trained model: weights (input, output), and its noise for `delta_of`."""

    weights: Array
    public: Public
    mechanisms: tuple[Mechanism, ...]

    def predict(self, x: Array32) -> Array32:
        """Logits (n, class), or values (n,) within the target's public range, of records x (n, d)."""
        outputs = inputs(x, self.public) @ self.weights
        if self.public.task == "classification":
            return outputs.astype(np.float32)
        lower, upper = self.public.target.bounds
        return np.clip((lower + upper) / 2 + outputs[:, 0] * (upper - lower) / 2, lower, upper).astype(np.float32)


def train(
    private: Private, budget: Budget, settings: Settings = Settings(), noise: Noise = discrete_gaussian
) -> Linear:
    """A model trained within the budget on private records; it has no seed. Raises AuditError for an invalid budget."""
    public = private.public
    budget.checked(public.records)
    sigma = sigma_for(budget, settings.steps)
    rows, truth = inputs(private.x, public), targets(private.y, public)
    weights = np.zeros((rows.shape[1], truth.shape[1]))
    total, rate = np.zeros_like(weights), settings.learning_rate * RATES[public.task]
    for number in range(settings.steps):
        steps = lattice_gradients(weights, rows, truth, private, settings.clip).sum(0)
        gradient = noise(steps, sigma * STEPS).reshape(weights.shape) / STEPS
        weights = weights - rate * (settings.clip * gradient / public.records + settings.penalty * weights)
        if 2 * number >= settings.steps - 1:
            total += weights
    averaged = settings.steps - (settings.steps // 2)
    return Linear(total / averaged, public, ((settings.steps, float(STEPS), sigma * STEPS),))


def sigma_for(budget: Budget, steps: int) -> float:
    """Noise of each of several steps of sensitivity 1 within the budget; at most 10 % too large, never too small."""
    for slack in 1 + np.geomspace(1e-6, 0.1, 12):
        sigma = math.sqrt(steps) * gaussian_sigma(budget.epsilon, budget.delta) * slack
        if delta_of(budget.epsilon, [(steps, float(STEPS), sigma * STEPS)]) <= budget.delta:
            return sigma
    raise AuditError(f"{steps} steps exceed {budget}; use fewer steps")


def lattice_gradients(weights: Array, rows: Array, truth: Array, private: Private, clip: float) -> NDArray[np.int64]:
    """Clipped gradient of each record, in lattice steps of 1/STEPS of `clip`: (n, input * output)."""
    return lattice_contributions(gradients(weights, rows, truth, private.public, clip), private.units)


def gradients(weights: Array, rows: Array, truth: Array, public: Public, clip: float) -> Array:
    """Clipped gradient of each record, in units of `clip`: (n, input * output), bit for bit the same in any batch.

    rows, truth: of `inputs` and `targets`. Logistic loss for classes, half the squared error for a number target. A
    gradient that is not finite counts as zero.
    """
    with np.errstate(all="ignore"):
        outputs = scores(rows, weights)
    residuals = (softmax(outputs, axis=1) if public.task == "classification" else outputs) - truth
    # The norm of an outer product is the product of the norms.
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(residuals, axis=1)
    scale = np.where(np.isfinite(norms), 1 / np.maximum(np.nan_to_num(norms), clip), 0.0)
    outer = np.nan_to_num(residuals * scale[:, None])[:, None, :] * rows[:, :, None]
    return outer.reshape(len(rows), -1)


def scores(rows: Array, weights: Array) -> Array:
    """The product of rows (n, input) and weights (input, output), each record's sum in the same order for any n."""
    found = np.zeros((len(rows), weights.shape[1]))
    for column, weight in zip(rows.T, weights, strict=True):
        found += column[:, None] * weight
    return found


def inputs(x: Array32, public: Public) -> Array:
    """Inputs for records (n, d): a constant, numbers in [-1, 1], one-hot categories; a missing value is zero."""
    blocks = [np.ones((len(x), 1))]
    for column, kind, values in zip(public.columns, public.numeric, public.scaled(x).T, strict=True):
        blocks.append(np.nan_to_num(values)[:, None] if kind else values[:, None] == np.arange(len(column.values)))
    return np.hstack(blocks)


def targets(y: Targets, public: Public) -> Array:
    """One-hot classes (n, class), or the target scaled to [-1, 1] by its public range, (n, 1)."""
    if public.task == "classification":
        return (np.asarray(y)[:, None] == np.arange(len(public.target.values))).astype(np.float64)
    lower, upper = public.target.bounds
    return (np.asarray(y, np.float64)[:, None] - (lower + upper) / 2) / ((upper - lower) / 2)
