"""Labels by a noisy classifier: logistic regression on random features, fitted to the records by noisy gradients.

The noisy moments of each class define a classifier, naive Bayes, which is the start and costs no further privacy. It
ignores how columns act together. Each step then adds the sum over the records of (one-hot class - predicted
probabilities) times features, with discrete Gaussian noise: full-batch gradient descent with Nesterov's momentum
(Bassily et al. 2014; noise on sums as in Song et al. 2013). The features of a record are a constant, its scaled
columns, and random Fourier features of them (Rahimi and Recht 2007), with norm at most 1, so that nothing needs to be
clipped.

Sensitivity. The residual has norm at most sqrt(2) (two probability vectors), hence a record's contribution, too, for
every classifier; the records of a unit share the weight of one. Contributions are rounded towards zero to a lattice.
Each is computed from its own record alone, one at a time: in a batch, the last bits of a product may depend on the
batch size, and the lattice points of other records with them. Later steps may depend on earlier ones (adaptive
composition). Labels of queries are
post-processing: their number is not limited by the budget.

The noise of all steps together is fixed in advance: sigma of one step, sqrt(steps) times as much for each of several.
Their number follows from the noisy count of records, which is released already: the costs in mu^2 add up to the same
total (Gaussian differential privacy with a fixed total; Smith and Thakurta 2022).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.noisy_moments import Moments
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Private
from memaudit.privacy.unit_lattice import STEPS, record_steps

SENSITIVITY = math.sqrt(2)  # L2, of one step to one unit
# Steps, learning rate, scale of the directions: by the noisy count over sigma, as much noise allows few, smooth steps.
COARSE, FINE = (8, 8.0, 1.0), (20, 10.0, 1.5)
FINE_FROM = 300.0
DIRECTIONS = 200
# Shares of the squared norm of constant, columns and Fourier features; below 1 in total, so that rounding fits.
WEIGHTS = np.sqrt(np.array([0.1, 0.3, 0.6]) * (1 - 1e-9))
REACH = 2.5  # the narrowed range in deviations: columns become standardised
LEAST_DEVIATION = 0.05
DEPENDENT = 8  # naive Bayes is overconfident: its log odds are divided by sqrt(1 + columns / DEPENDENT)


@dataclass(frozen=True)
class Classifier:
    """Naive Bayes from noisy moments plus a linear function of features; it holds no private value.

    public: bounds of the moments; sigma: their noise, in records; directions: (entry, direction) of the Fourier
    features; weights: (feature, class), zero at the start.
    """

    public: Public
    moments: Moments
    sigma: float
    directions: Array
    weights: Array

    def features(self, record: Array) -> Array:
        """(feature,) of entries (entry,) of one record, as `entries` gives them: norm at most 1."""
        scaled = record / math.sqrt(len(self.public.columns))
        turned = scaled @ self.directions
        fourier = np.concatenate([np.cos(turned), np.sin(turned)]) / math.sqrt(len(turned))
        linear = scaled / max(1.0, float(np.linalg.norm(scaled)))
        return np.concatenate([WEIGHTS[:1], WEIGHTS[1] * linear, WEIGHTS[2] * fourier])

    def naive(self, record: Array) -> Array:
        """(class,) log odds of naive Bayes for entries (entry,), tempered because columns depend on one another."""
        numbers = np.count_nonzero(self.public.numeric)
        count = np.maximum(self.moments.count, 1.0)
        odds = np.log(np.maximum(self.moments.group_shares(), 1 / max(2.0, float(count.sum()))))
        spread = np.maximum(self.moments.deviation(), LEAST_DEVIATION)
        odds = odds - (((record[:numbers] / REACH - self.moments.mean()) / spread) ** 2).sum(1) / 2
        codes = np.split(record[numbers:], np.cumsum(self.public.category_counts)[:-1])
        for code, share in zip(codes if self.moments.categories else (), self.moments.shares(), strict=True):
            prior = 2 * self.sigma  # records with equal shares: a category with little but noise says little
            smooth = (share * count[:, None] + prior) / (count[:, None] + prior * share.shape[1])
            odds = odds + np.log(smooth) @ code
        return odds / math.sqrt(1 + len(self.public.columns) / DEPENDENT)

    def logits(self, x: Array32) -> Array:
        """(record, class) for records x (record, d)."""
        return np.stack([self.naive(record) + self.features(record) @ self.weights for record in self.entries(x)])

    def labels(self, x: Array32, equal_classes: bool) -> NDArray[np.int64]:
        """(record,) most probable class of records x; equal_classes: of records of which each class has as many.

        For the latter, odds are divided by the noisy shares of the classes, which are released already.
        """
        logits = self.logits(x)
        if equal_classes:
            logits = logits - np.log(np.maximum(self.moments.group_shares(), 1 / max(2.0, self.moments.count.sum())))
        return logits.argmax(1)

    def entries(self, x: Array32) -> Array:
        """(record, entry): standardised numbers, then one entry for each category; 0 where a value is missing."""
        public = self.public
        numbers = np.nan_to_num(public.scaled(x)[:, public.numeric]) * REACH
        pairs = zip(x[:, ~public.numeric].T, public.category_counts, strict=True)
        return np.hstack([numbers, *(column[:, None] == np.arange(size) for column, size in pairs)])


def untrained(public: Public, moments: Moments, sigma: float, scale: float, rng: np.random.Generator) -> Classifier:
    """Naive Bayes from noisy moments of each class; rng: of the directions, which need not be secret."""
    entries = int(np.count_nonzero(public.numeric)) + sum(public.category_counts)
    directions = rng.normal(scale=scale, size=(entries, DIRECTIONS))
    return Classifier(public, moments, sigma, directions, np.zeros((1 + entries + 2 * DIRECTIONS, len(moments.count))))


def trained(
    private: Private,
    moments: Moments,
    sigmas: tuple[float, float],
    rng: np.random.Generator,
    noise: Noise = discrete_gaussian,
) -> Classifier:
    """The classifier after noisy gradients of the private records.

    private: with the public bounds of the moments; sigmas: noise of the moments and of a single step, in records. All
    steps are rho-zCDP, rho = SENSITIVITY^2 / (2 sigma^2) of a single step, for adding or removing one unit.
    """
    count = max(1.0, float(moments.count.sum()))
    steps, rate, scale = FINE if count / sigmas[1] >= FINE_FROM else COARSE
    start = untrained(private.public, moments, sigmas[0], scale, rng)
    entries = start.entries(private.x)
    features = [start.features(record) for record in entries]
    naive = [start.naive(record) for record in entries]
    share, weights = record_steps(private.units), start.weights
    before = weights
    for step in range(steps):
        ahead = weights + step / (step + 3) * (weights - before)
        sums = np.zeros(ahead.shape, dtype=np.int64)
        # Records one by one: their contributions together would take gigabytes.
        for weight, *record in zip(share, features, naive, private.y, strict=True):
            sums += np.trunc(contribution(*record, ahead) * weight).astype(np.int64)
        noisy = noise(sums, sigmas[1] * math.sqrt(steps) * STEPS) / STEPS
        before, weights = weights, ahead + rate / count * noisy
    return replace(start, weights=weights)


def contribution(features: Array, naive: Array, label: int, weights: Array) -> Array:
    """(feature, class) of one record: its negative gradient, with norm at most SENSITIVITY."""
    logits = naive + features @ weights
    odds = np.exp(logits - logits.max())
    residual = (np.arange(len(logits)) == label) - odds / odds.sum()
    return np.outer(features, residual)
