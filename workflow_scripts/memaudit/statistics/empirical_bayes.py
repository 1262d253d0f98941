"""Posteriors of many normal means under a common prior that is estimated from all of them (empirical Bayes).

Estimate i is normal around its mean theta_i with a known standard error. The largest of many estimates are large by
chance too, and their own confidence intervals miss (the winner's curse). A posterior under the distribution of all
means does not depend on which of them are selected (Efron 2011, "Tweedie's formula and selection bias").

The prior is a mixture of normals of one width on a grid of centres, with Dirichlet weights; nothing about its shape is
assumed. Its weights are drawn by Gibbs sampling and not fixed at one best value: the nonparametric maximum likelihood
prior is discrete, and its intervals are too narrow (`record_vulnerability` has the coverage of both).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from memaudit.common.arrays import Array

WIDTH = 0.5  # of a component and between centres, in median standard errors
MOST_COMPONENTS = 250
CONCENTRATION = 2.5  # of the Dirichlet prior: records' worth of `_base`
BURN_IN = 50
THINNED = 4
BISECTIONS = 40


@dataclass(frozen=True)
class Posterior:
    """Mixture of normals for each mean: weights and centres (mean, component), sigma (mean, 1)."""

    weights: Array
    centres: Array
    sigma: Array

    def means(self) -> Array:
        """Posterior means, (mean,)."""
        return (self.weights * self.centres).sum(1)

    def drawn(self, rng: np.random.Generator) -> Array:
        """One draw of each mean, (mean,)."""
        cumulative = np.cumsum(self.weights, axis=1)
        chosen = (cumulative < rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(1)
        centres = np.take_along_axis(self.centres, chosen[:, None], axis=1)[:, 0]
        return centres + self.sigma[:, 0] * rng.standard_normal(len(centres))

    def quantiles(self, level: float) -> Array:
        """The posterior quantile of each mean, (mean,), by bisection."""
        low, high = (self.centres - 9 * self.sigma).min(1), (self.centres + 9 * self.sigma).max(1)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = (self.weights * ndtr((middle[:, None] - self.centres) / self.sigma)).sum(1) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


@dataclass(frozen=True)
class Prior:
    """Draws of the distribution of the means: centres (component,), their common width, weights (draw, component)."""

    centres: Array
    width: float
    weights: Array

    def posterior(self, estimates: Array, errors: Array) -> Posterior:
        """Posterior of means with these estimates and standard errors, (mean,), averaged over the draws."""
        likelihood = _likelihood(estimates, errors, self.centres, self.width)
        weights = likelihood * ((1 / (likelihood @ self.weights.T)) @ self.weights) / len(self.weights)
        precision = errors[:, None] ** -2 + self.width**-2
        centres = (estimates[:, None] * errors[:, None] ** -2 + self.centres * self.width**-2) / precision
        return Posterior(weights, centres, precision**-0.5)


def fit_prior(
    estimates: Array, errors: Array, rng: np.random.Generator, draws: int = 50, counts: Array | None = None
) -> Prior:
    """Draws of the distribution of the means from their estimates and standard errors, (mean,).

    counts: (mean,) how many independent means each stands for, 1 by default, and less for means whose errors depend.
    Gibbs sampler: each mean draws its component, then the weights are drawn from a Dirichlet distribution. Every
    `THINNED`-th step is kept, after `BURN_IN` steps from a start at the EM fit.
    """
    width = WIDTH * float(np.median(errors))
    low, high = estimates.min() - width, estimates.max() + width
    count = min(int(np.ceil((high - low) / width)) + 1, MOST_COMPONENTS)
    centres = np.linspace(low, high, count)
    width = max(width, centres[1] - centres[0])
    likelihood = _likelihood(estimates, errors, centres, width)
    counts = np.ones(len(estimates)) if counts is None else counts
    base = CONCENTRATION * _base(centres, estimates, counts)
    weights = _em(likelihood, base, counts)
    drawn = np.empty((draws, count))
    for step in range(-BURN_IN, draws * THINNED):
        cumulative = np.cumsum(likelihood * weights, axis=1)
        chosen = (cumulative < rng.random((len(estimates), 1)) * cumulative[:, -1:]).sum(1)
        weights = rng.dirichlet(np.bincount(chosen, counts, minlength=count) + base)
        if step >= 0:
            drawn[step // THINNED] = weights
    return Prior(centres, width, drawn)


def _base(centres: Array, estimates: Array, counts: Array) -> Array:
    """Mean of the Dirichlet prior, (component,): half uniform, half normal as the estimates are spread.

    Of a uniform one alone, a large part lies beyond the estimates of few units and raises the largest of them.
    """
    centre = np.average(estimates, weights=counts)
    spread = max(float(np.average((estimates - centre) ** 2, weights=counts)), (centres[1] - centres[0]) ** 2)
    normal = np.exp(-0.5 * (centres - centre) ** 2 / spread)
    return (normal / normal.sum() + 1 / len(centres)) / 2


def _em(likelihood: Array, base: Array, counts: Array, steps: int = 30) -> Array:
    weights = base / base.sum()
    for _ in range(steps):
        share = likelihood * weights
        weights = counts @ (share / share.sum(1, keepdims=True)) + base
        weights /= weights.sum()
    return weights


def _likelihood(estimates: Array, errors: Array, centres: Array, width: float) -> Array:
    """Marginal likelihood of each estimate under each component, up to a factor per estimate: (mean, component)."""
    variance = errors[:, None] ** 2 + width**2
    exponent = -0.5 * (estimates[:, None] - centres) ** 2 / variance
    return np.exp(exponent - exponent.max(1, keepdims=True))
