"""Pointwise sliced mutual information (PSMI): does a record's hidden representation explain its label?

Wongso et al. 2023a, algorithm 1; papers/predicting-memorization.md, Definition 2 and Appendix C. Hidden states are
projected on random directions; on each, every class is a Gaussian, and a record's pointwise mutual information is
log p(projection | its class) - log p(projection). PSMI is the mean over directions, in nats: at most -log of the share
of the record's class, about 0 for a record whose representation says nothing of its label, negative where it speaks for
another one.

Hidden states are an array (record, feature), a memory map too, or a list of such arrays that follow each other (any
object that gives them anew each time it is read). They are read once per block of directions; beside them stand the
projections on one block, whatever the number of directions. States of float32, as networks give them, are projected in
float32: the rounding is that of the states themselves, 6e-8 of their size, and a thousandth of a PSMI's standard error.
All others are taken in float64.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memaudit.errors import AuditError

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
States = NDArray[np.floating] | Iterable[NDArray[np.floating]]

DIRECTIONS = 2000  # Appendix C
STEP = 250  # directions after which the accuracy is looked at
SHARE = 0.95  # of the records must be as accurate as asked
# Least deviation of a projected class, of the projections' root mean square: float32 states resolve 6e-8.
FLOOR, LEAST = 1e-9, 1e-30
LARGEST = {"float64": 1e40, "float32": 1e15}  # larger states would overflow in squares of squares
PROJECTIONS = 2**25  # numbers in a block of projections: 256 MiB
CHUNK, TILE = 2**22, 2**17  # numbers of states read at once, and of log densities in the processor's cache


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
        """The standard error that 95 % of the records keep to."""
        return float(np.sort(self.error)[int(np.ceil(SHARE * len(self.error))) - 1])


@dataclass(frozen=True)
class Fit:
    """Gaussians of every class on every direction.

    classes: (class,) labels in rising order; log_priors: (class,) logarithms of their shares; thetas: (direction,
    feature); means, sigmas: (class, direction).
    """

    classes: NDArray
    log_priors: Array
    thetas: Array
    means: Array
    sigmas: Array

    def transform(self, states: States, labels: ArrayLike) -> Scores:
        """PSMI of records against *all* fitted classes, whichever are among them: a subset has the values of the whole.

        states: (record, feature); labels: (record,). Raises AuditError for a label that was not fitted.
        """
        labels = _present(labels)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        if (unseen := self.classes[codes] != labels).any():
            raise AuditError(
                f"PSMI: record {int(np.argmax(unseen))} has a label that no fitted record has; fit on records of it too"
            )
        parts = []
        for block in _blocks(len(labels), *self.thetas.shape):
            projections = _project(states, self.thetas[block], len(labels))
            parts.append(_score(projections, codes, self.means[:, block], self.sigmas[:, block], self.log_priors))
        return reduce(_pooled, parts)


def draw(rng: np.random.Generator, directions: int, features: int) -> Array:
    """Directions drawn uniformly on the unit sphere, (direction, feature)."""
    thetas = rng.standard_normal((directions, features))
    return thetas / np.linalg.norm(thetas, axis=1, keepdims=True)


def fit(states: States, labels: ArrayLike, thetas: Array, *, ddof: int = 0) -> Fit:
    """Fit the Gaussians of every class on given directions.

    states: (record, feature); labels: (record,) numbers or texts; thetas: (direction, feature); ddof: 0 as in the
    package `psmi`, 1 as in the paper's own repository. Raises AuditError where labels and states do not fit, where a
    state is not finite, or where there are fewer than 2 classes, or 2 records of a class.
    """
    classes, codes = _classes(labels)
    found = [
        _moments(_project(states, thetas[block], len(codes)), codes, ddof)
        for block in _blocks(len(codes), *thetas.shape)
    ]
    means, sigmas = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
    return Fit(classes, _log_priors(codes), thetas, means, sigmas)


def estimate(
    states: States,
    labels: ArrayLike,
    rng: np.random.Generator,
    *,
    directions: int = DIRECTIONS,
    accuracy: float | None = None,
    ddof: int = 0,
) -> Scores:
    """PSMI of the records against Gaussians fitted on all of them, on directions drawn from `rng`.

    accuracy: stop, looking every 250 directions, as soon as 95 % of the records have a standard error of at most so
    many nats; after `directions` it stops in any case, and the scores' own `accuracy` says what was reached. It does
    not shrink with more records, but as 1 / sqrt(directions). ddof, errors: see `fit`.
    """
    if directions < 2:
        raise AuditError(f"PSMI: {directions} directions have no standard error; ask for 2 or more")
    _, codes = _classes(labels)
    features, log_priors, found = _features(states), _log_priors(codes), None
    for block in _blocks(len(codes), directions, features, STEP if accuracy else directions):
        projections = _project(states, draw(rng, block.stop - block.start, features), len(codes))
        scores = _score(projections, codes, *_moments(projections, codes, ddof), log_priors)
        found = _pooled(found, scores) if found else scores
        if accuracy and found.directions > 1 and found.accuracy <= accuracy:
            break
    return found


def chunks(states: States, *, exact: bool = True) -> Iterator[NDArray[np.floating]]:
    """Hidden states in their order, a bounded number at a time: in float64, or, if not exact, float32 ones as they are.

    Raises AuditError if one is not finite.
    """
    parts = states
    if isinstance(states, np.ndarray):
        whole = np.atleast_1d(states)
        rows = max(1, CHUNK // max(1, whole[:1].size))
        parts = (whole[start : start + rows] for start in range(0, len(whole), rows))
    elif iter(states) is states:
        raise AuditError("hidden states: they can be read only once; give an array, or a list of arrays")
    start = 0
    for part in map(np.asarray, parts):
        if part.ndim != 2 or part.dtype.kind not in "fiu":
            raise AuditError(f"hidden states: {part.dtype} of shape {part.shape}; give numbers, (record, feature)")
        chunk = part.astype(np.float64 if exact or part.dtype.itemsize > 4 else np.float32, copy=False)
        largest = LARGEST[chunk.dtype.name]
        if chunk.size and not max(chunk.max(), -chunk.min()) <= largest:
            bad = start + int(np.argmax(~(np.abs(chunk) <= largest).all(1)))
            raise AuditError(
                f"hidden states: record {bad} holds NaN, infinity or a number beyond {largest:g}; leave it out, or look"
                " for the layer that overflows"
            )
        start += len(chunk)
        yield chunk


def _features(states: States) -> int:
    first = next(iter(chunks(states)), np.empty((0, 0)))
    if not first.size:
        raise AuditError("hidden states: there are none; give (record, feature)")
    return first.shape[1]


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


def _blocks(records: int, directions: int, features: int, most: int | None = None) -> Iterator[slice]:
    """Slices of the directions whose projections, and whose directions, are held at once."""
    size = max(1, min(most or directions, PROJECTIONS // max(records, features)))
    return (slice(start, min(start + size, directions)) for start in range(0, directions, size))


def _project(states: States, thetas: Array, records: int) -> NDArray[np.floating]:
    """Projections (record, direction), of the first states' type.

    Raises AuditError unless there are as many states as records, all as wide.
    """
    projections, start = np.empty((records, 0)), 0
    for chunk in chunks(states, exact=False):
        if not start:
            projections = np.empty((records, len(thetas)), chunk.dtype)
            directions = thetas.T.astype(chunk.dtype)
        if chunk.shape[1] != thetas.shape[1]:
            raise AuditError(f"hidden states: {chunk.shape[1]} features after {thetas.shape[1]}; give as many of each")
        # More than there is room for are counted alone.
        room = projections[start : start + len(chunk)]
        np.matmul(chunk[: len(room)], directions, out=room, casting="same_kind")
        start += len(chunk)
    if start != records:
        raise AuditError(f"hidden states: {start} records, but {records} labels; give one label for each")
    return projections


def _moments(projections: NDArray[np.floating], codes: Codes, ddof: int) -> tuple[Array, Array]:
    """Mean and deviation of every class on every direction, each (class, direction)."""
    means, sigmas = np.empty((2, codes.max() + 1, projections.shape[1]))
    for code in range(len(means)):
        own = projections[codes == code].astype(np.float64)
        means[code] = own.mean(0)
        own -= means[code]
        sigmas[code] = np.sqrt(np.einsum("ij,ij->j", own, own) / (len(own) - ddof))
    scale = np.sqrt(np.exp(_log_priors(codes)) @ (means**2 + sigmas**2))
    return means, np.maximum(sigmas, np.maximum(FLOOR * scale, LEAST))


def _score(projections: NDArray[np.floating], codes: Codes, means: Array, sigmas: Array, log_priors: Array) -> Scores:
    """PSMI on one block of directions: minus the log of the label's prior, and of all densities over the own one.

    In tiles (other class, record, direction) that stay in the processor's cache, each of records of one class.
    """
    psmi, squares = np.empty((2, len(codes)))
    level, scale = log_priors[:, None] - np.log(sigmas), np.sqrt(0.5) / sigmas
    level, scale, means = (part.astype(projections.dtype) for part in (level, scale, means))
    rows = max(1, TILE // sigmas.size)
    for code, log_prior in enumerate(log_priors):
        of_class, others = np.flatnonzero(codes == code), np.flatnonzero(np.arange(len(means)) != code)
        shift, factor, gap = means[others, None], scale[others, None], level[others] - level[code]
        for part in (of_class[start : start + rows] for start in range(0, len(of_class), rows)):
            tile = projections[part]
            joint = tile - shift
            joint *= factor
            np.square(joint, out=joint)
            tile -= means[code]
            tile *= scale[code]
            np.subtract(np.square(tile, out=tile), joint, out=joint)  # log of a density over the own one, less `gap`
            values = _log_sum(joint, gap)
            mean = values.mean(1, dtype=np.float64)
            values -= mean[:, None]
            psmi[part], squares[part] = -mean - log_prior, np.einsum("ij,ij->i", values, values, dtype=np.float64)
    return Scores(psmi, squares, projections.shape[1])


def _log_sum(joint: Array, gap: Array) -> Array:
    """log(1 + sum of exp(joint + gap) over the classes), (record, direction); gap: (class, direction)."""
    with np.errstate(over="ignore"):
        total = np.einsum("kj,kij->ij", np.exp(gap), np.exp(joint))
    if total.max() < np.inf:
        return np.log1p(total, out=total)
    return np.logaddexp.reduce(joint + gap[:, None], axis=0, initial=0.0)  # slower, and right for ratios beyond 1e308


def _pooled(one: Scores, other: Scores) -> Scores:
    """Scores over the directions of both (Chan et al. 1983)."""
    directions = one.directions + other.directions
    gap = other.psmi - one.psmi
    squares = one.squares + other.squares + gap**2 * (one.directions * other.directions / directions)
    return Scores(one.psmi + gap * (other.directions / directions), squares, directions)
