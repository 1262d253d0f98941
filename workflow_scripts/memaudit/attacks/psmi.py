"""Pointwise sliced mutual information (PSMI) between a record's hidden representation and its label.

Wongso et al. 2023a, algorithm 1; "Predicting memorization within LLMs fine-tuned for classification", Definition 2 and
Appendix C. Hidden states are projected on random directions; on each, every class is a Gaussian, and a record's
pointwise mutual information is log p(projection | its class) - log p(projection). PSMI is the mean over directions, in
nats: at most -log of the share of the record's class, about 0 for a record whose representation is independent of its
label, negative where it indicates another label.

Hidden states (see `hidden_states`) are read once per block of directions; memory holds the projections on one block,
for any number of directions. Projections have the directions' type. Directions that are drawn here are float32, and
states are centred on their median before they are rounded to it: an error of 6e-8 of their spread, below a thousandth
of a PSMI's standard error. Where classes or records lie so far apart that the rounding error would reach a class's own
deviation, float64 is used.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memaudit.attacks.hidden_states import States, median, reader
from memaudit.common.arrays import Array, Array32, Codes, Floats
from memaudit.common.errors import AuditError

DIRECTIONS = 2000  # Appendix C
STEP = 500  # directions in a block, after which the accuracy is checked
SHARE = 0.95  # of the records must reach the requested accuracy
# Least deviation of a projected class: relative to all projections' root mean square, relative to the rounding of the
# class's mean, and absolute, so that float32 holds its inverse.
FLOOR, ROUNDING, LEAST = 1e-9, 100, 1e-18
RESOLVED = 1e3  # largest float32 projection, in deviations of the narrowest class
PROJECTIONS = 2**25  # numbers in a block of projections
FEW, TILE = 64, 2**16  # numbers that float32 adds up, and projections in the processor's cache


@dataclass(frozen=True)
class Scores:
    """psmi: (record,) mean over the directions, in nats; squares: (record,) sum of squared deviations from it."""

    psmi: Array
    squares: Array
    directions: int

    @property
    def error(self) -> Array:
        """Monte-Carlo standard error of each record's PSMI, (record,); NaN of a single direction.

        Records share the directions: a difference of two records may be more certain than either.
        """
        if self.directions < 2:
            return np.full_like(self.psmi, np.nan)
        return np.sqrt(self.squares / (self.directions - 1) / self.directions)

    @property
    def accuracy(self) -> float:
        """The standard error that 95 % of the records do not exceed."""
        return float(np.sort(self.error)[int(np.ceil(SHARE * len(self.error))) - 1])


@dataclass(frozen=True)
class Fit:
    """Gaussians of every class on every direction.

    classes: (class,) labels in rising order; log_priors: (class,) logarithms of their shares; origin: (feature,),
    subtracted from the states; thetas: (direction, feature); means, sigmas: (class, direction).
    """

    classes: NDArray
    log_priors: Array
    origin: Array
    thetas: Floats
    means: Array
    sigmas: Array

    def transform(self, states: States, labels: ArrayLike) -> Scores:
        """PSMI of records against *all* fitted classes: a subset of records has the same values as the whole.

        states: (record, feature); labels: (record,). Raises AuditError for a label that was not fitted.
        """
        labels = _present(labels)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        if (unseen := self.classes[codes] != labels).any():
            raise AuditError(
                f"PSMI: record {int(np.argmax(unseen))} has a label that no fitted record has; fit on records of it too"
            )
        read, parts = reader(states, self.origin, self.thetas.dtype), []
        for block in _blocks(len(labels), *self.thetas.shape):
            projections, means = _project(read(), self.thetas[block], len(labels)), self.means[:, block]
            projections -= means[codes].astype(projections.dtype)
            own = _by_class(projections, codes, len(self.classes))
            parts.append(_score(own, codes, means, self.sigmas[:, block], self.log_priors))
        return reduce(_pooled, parts)


def draw(rng: np.random.Generator, directions: int, features: int) -> Array32:
    """Directions drawn uniformly on the unit sphere, (direction, feature), of float32.

    Normal numbers by Box and Muller (1958), three times faster than numpy's own.
    """
    uniform = rng.random((directions, 2, (features + 1) // 2), dtype=np.float32)
    radius, angle = np.sqrt(LEAST - 2 * np.log1p(-uniform[:, 0])), 2 * np.pi * uniform[:, 1]
    thetas = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[:, :features]
    return thetas / np.linalg.norm(thetas, axis=1, keepdims=True)


def fit(states: States, labels: ArrayLike, thetas: Floats) -> Fit:
    """Fit the Gaussians of every class on given directions.

    states: (record, feature); labels: (record,) numbers or texts; thetas: (direction, feature). Deviations have
    ddof 0, as in the package `psmi`. Raises AuditError where labels and states do not fit, where a state is not finite,
    or where there are fewer than 2 classes, or 2 records of a class.
    """
    classes, codes = _classes(labels)
    origin, moments = median(states), []
    if thetas.ndim != 2 or not len(thetas) or thetas.shape[1] != len(origin):
        raise AuditError(f"PSMI: directions of shape {thetas.shape}; give (direction, {len(origin)} features)")
    read = reader(states, origin, thetas.dtype)
    for block in _blocks(len(codes), *thetas.shape):
        projections = _project(read(), thetas[block], len(codes))
        moments.append(_moments(_by_class(projections, codes, len(classes))))
    means, sigmas = (np.concatenate(parts, axis=1) for parts in zip(*moments, strict=True))
    return Fit(classes, _log_priors(codes), origin, thetas, means, sigmas)


def estimate(
    states: States,
    labels: ArrayLike,
    rng: np.random.Generator,
    *,
    directions: int = DIRECTIONS,
    accuracy: float | None = None,
) -> Scores:
    """PSMI of the records against Gaussians fitted on all of them, on directions drawn from `rng`.

    accuracy: stop, checking every 500 directions, as soon as 95 % of the records have a standard error of at most this
    many nats; after `directions` it stops in any case, and `accuracy` of the scores is the value reached. The standard
    error falls as 1 / sqrt(directions), not with more records. Errors: see `fit`.
    """
    if directions < 2:
        raise AuditError(f"PSMI: {directions} directions have no standard error; use 2 or more")
    classes, codes = _classes(labels)
    origin, log_priors, pooled = median(states), _log_priors(codes), None
    read = reader(states, origin, np.float32)
    for block in _blocks(len(codes), directions, len(origin)):
        thetas = draw(rng, block.stop - block.start, len(origin))
        own = _by_class(_project(read(), thetas, len(codes)), codes, len(classes))
        means, sigmas = _moments(own)
        if ((np.abs(means) + sigmas).max(0) > RESOLVED * sigmas.min(0)).any():
            exact = _project(reader(states, origin, np.float64)(), thetas.astype(np.float64), len(codes))
            own = _by_class(exact, codes, len(classes))
            means, sigmas = _moments(own)
        scores = _score(own, codes, means, sigmas, log_priors)
        pooled = _pooled(pooled, scores) if pooled else scores
        if accuracy and pooled.directions > 1 and pooled.accuracy <= accuracy:
            break
    return pooled


def _present(labels: ArrayLike) -> NDArray:
    labels = np.asarray(labels)
    missing = [label is None or (isinstance(label, float) and isnan(label)) for label in labels.tolist()]
    if any(missing):
        raise AuditError(f"PSMI: record {missing.index(True)} has no label; give it one, or leave it out")
    return labels


def _classes(labels: ArrayLike) -> tuple[NDArray, Codes]:
    classes, codes = np.unique(_present(labels), return_inverse=True)
    if len(classes) < 2:
        raise AuditError(f"PSMI: {len(codes)} records of {len(classes)} class; it compares 2 or more")
    alone = np.bincount(codes)[codes] < 2
    if alone.any():
        raise AuditError(
            f"PSMI: record {int(np.argmax(alone))} is the only one of its class, which has no deviation then; merge the"
            " class with another, or leave the record out"
        )
    return classes, codes


def _log_priors(codes: Codes) -> Array:
    return np.log(np.bincount(codes) / len(codes))


def _blocks(records: int, directions: int, features: int) -> Iterator[slice]:
    """Slices of the directions that are in memory at once with their projections."""
    size = max(1, min(STEP, PROJECTIONS // max(records, features)))
    return (slice(start, min(start + size, directions)) for start in range(0, directions, size))


def _project(centred: Iterable[Floats], thetas: Floats, records: int) -> NDArray:
    """Projections (record, direction), of the directions' type; raises AuditError unless there are as many states."""
    projections, start = np.empty((records, len(thetas)), thetas.dtype), 0
    for chunk in centred:
        # States beyond the number of labels are only counted.
        room = projections[start : start + len(chunk)]
        np.matmul(chunk[: len(room)], thetas.T, out=room)
        start += len(chunk)
    if start != records:
        raise AuditError(f"hidden states: {start} records, but {records} labels; give one label for each")
    return projections


def _by_class(projections: Floats, codes: Codes, classes: int) -> list[Floats]:
    return [projections[codes == code] for code in range(classes)]


def _moments(own: list[Floats]) -> tuple[Array, Array]:
    """Mean and deviation of every class on every direction, each (class, direction).

    own: the classes' projections, centred on their means in place.
    """
    sizes = np.array([len(part) for part in own])[:, None]
    means = np.stack([_total(part, "ij->j") for part in own]) / sizes
    for part, mean in zip(own, means, strict=True):
        np.subtract(part, mean, out=part, dtype=part.dtype, casting="same_kind")
    variances = np.stack([_total(part, "ij,ij->j") for part in own]) / sizes
    scale = np.sqrt(((means**2 + variances) * sizes).sum(0) / sizes.sum())
    rounding = ROUNDING * np.finfo(own[0].dtype).eps * np.abs(means)
    return means, np.maximum.reduce([np.sqrt(variances), rounding, np.broadcast_to(FLOOR * scale + LEAST, means.shape)])


def _total(values: Floats, product: str) -> Array:
    """Sums over the records, (direction,): partial sums in their own type, added in float64."""
    few = (values[start : start + FEW] for start in range(0, len(values), FEW))
    return sum((np.einsum(product, *[part] * len(product.split(","))) for part in few), np.zeros(values.shape[1]))


def _score(own: list[Floats], codes: Codes, means: Array, sigmas: Array, log_priors: Array) -> Scores:
    """PSMI on one block of directions: minus the log of the label's prior, and of all densities over the own one.

    own: every class's projections, centred on its mean. In tiles (record, direction) that fit the processor's cache.
    """
    psmi, squares = np.empty((2, len(codes)))
    dtype, directions = own[0].dtype, means.shape[1]
    level, scale = log_priors[:, None] - np.log(sigmas), np.sqrt(0.5) / sigmas
    for code, projections in enumerate(own):
        others = np.arange(len(means)) != code
        relative = means[others] - means[code], scale[others], level[others] - level[code]
        gaussians = scale[code].astype(dtype), *(part.astype(dtype) for part in relative)
        of_class = np.flatnonzero(codes == code)
        for start in range(0, len(projections), size := max(1, TILE // directions)):
            part = of_class[start : start + size]
            values = _log_sum(projections[start : start + size], *gaussians)
            mean = values.mean(1)
            values -= mean[:, None]
            psmi[part], squares[part] = -mean - log_priors[code], np.einsum("ij,ij->i", values, values)
    return Scores(psmi, squares, directions)


def _log_sum(tile: NDArray, own: NDArray, means: NDArray, scale: NDArray, gap: NDArray) -> NDArray:
    """Log of the weighted densities of all classes over that of the own one, (record, direction).

    tile: projections centred on the own class's mean; own: (direction,) its scale; means, scale, gap: (other class,
    direction), the gap that of the logarithms of weights over deviations.
    """
    total, others = None, list(zip(means, scale, strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square(tile * own)
        for gaussian, weight in zip(others, np.exp(gap), strict=True):
            ratio = _half_square(tile, *gaussian)
            np.exp(np.subtract(square, ratio, out=ratio), out=ratio)
            ratio *= weight
            total = ratio if total is None else np.add(total, ratio, out=total)
    if total.max() < np.inf:
        return np.log1p(total, out=total)
    # Slower, and correct for ratios that overflow float32.
    exact = tile.astype(np.float64)
    square, log_total = np.square(exact * own), np.zeros_like(exact)
    for gaussian, weight in zip(others, gap, strict=True):
        np.logaddexp(log_total, square - _half_square(exact, *gaussian) + weight, out=log_total)
    return log_total


def _half_square(tile: NDArray, mean: NDArray, factor: NDArray) -> NDArray:
    scaled = tile - mean
    scaled *= factor
    return np.square(scaled, out=scaled)


def _pooled(one: Scores, other: Scores) -> Scores:
    """Scores over the directions of both (Chan et al. 1983)."""
    directions = one.directions + other.directions
    gap = other.psmi - one.psmi
    squares = one.squares + other.squares + gap**2 * (one.directions * other.directions / directions)
    return Scores(one.psmi + gap * (other.directions / directions), squares, directions)
