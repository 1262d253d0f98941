"""LiRA with empirical-Bayes variances and a Student-t predictive, for few shadow models (Brännvall 2026, BaVarIA).

A record's variance is drawn from a scaled inverse chi-squared distribution that all records share:
nu_0 s_0^2 / sigma^2 ~ chi^2 with nu_0 degrees of freedom (the inverse-gamma part of a normal-inverse-gamma prior; its
normal part is flat here: a record's mean is its own). nu_0 and s_0^2 are estimated over records by the moments of the
log-variances (Smyth 2004, Section 6.2). With n values of sum of squares Q the predictive of a new value is Student's t
with nu = nu_0 + n - 1 degrees of freedom, centre the mean, squared scale (nu_0 s_0^2 + Q) / nu (1 + 1/n). nu_0 -> 0 is
LiRA's own variance per record, nu_0 -> infinity its pooled variance.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, zeta

from memaudit.attacks.cross_fitting import FOLDS, fold_slices, parts, record_halves
from memaudit.attacks.gaussian import CONVENTIONS, Moments, fit_moments, moments_without_target, require_shadows
from memaudit.attacks.lira import columns, record_blocks
from memaudit.attacks.shadow_sides import Arranged, arrange, is_balanced
from memaudit.common.arrays import Array, Floats, Indices, Mask
from memaudit.common.errors import AuditError

MOST_FREEDOM = 1e6  # beyond it the t distribution is normal to six digits
ROUNDED = 1e-8  # 1 + x of less is mostly rounding
LEAST_SHARE = 1e-5  # least variance, as a share of the median one (limma's rule): its logarithm stays finite


class Prior(NamedTuple):
    """Degrees of freedom nu_0 and variance s_0^2 of the inverse chi-squared prior; numbers, or arrays alike."""

    freedom: Array
    variance: Array


def student_t_ratio(signals: Floats, membership: Mask, *, shared: bool = False, floor: float = 0.0) -> Array:
    """Log-likelihood ratio of the two Student-t predictives; every target leaves with its pair (`shadow_sides.Leave`).

    signals, membership: (model, record); shared: one variance of a record for IN and OUT, from the squares of both
    (half the parameters; a difference in variance is then no evidence); floor: least standard deviation. The priors of
    a target come from other models and other records (`attacks.cross_fitting`). Returns (model, record), in nats.
    Raises AuditError where a record has fewer than 2 shadow models on one side, or for fewer than 4 records.
    """
    return next(student_t_ratios(signals, membership, [shared], floor))


def student_t_ratios(
    signals: Floats, membership: Mask, kinds: Sequence[bool], floor: float = 0.0, dtype: type = np.float64
) -> Iterator[Floats]:
    """`student_t_ratio` of own variances (False) and of shared ones (True), from the same fits."""
    require_shadows(membership)
    if membership.shape[1] < 4:
        raise AuditError(f"a prior over {membership.shape[1]} records cannot be estimated: give at least 4 records")
    least = max(CONVENTIONS["mean"].floor, floor) ** 2
    moments = _moments_of_other_folds(signals, membership)
    priors = [_priors(*moments, shared, least) for shared in kinds]
    halves, in_pairs = record_halves(membership.shape[1]), is_balanced(membership)
    scores = [np.empty(membership.shape, dtype) for _ in kinds]
    for part in record_blocks(membership.shape[1], len(membership)):
        block = arrange(*columns(signals, membership, part), in_pairs=in_pairs)
        fits = [moments_without_target(side) for side in block.sides]
        for shared, of_kind, prior in zip(kinds, scores, priors, strict=True):
            of_part = [Prior(*(numbers[:, halves[part]] for numbers in side)) for side in prior]
            ratio = _shared_ratio if shared else _own_ratio
            of_kind[:, part] = block.joined(ratio(block, *fits, of_part, least))
    yield from scores


def estimate_prior(variances: Array, freedom: Array) -> Prior:
    """nu_0 and s_0^2 from sample variances (record,) with these degrees of freedom (Smyth 2004, Section 6.2).

    log s^2 has mean log s_0^2 + psi(d/2) - log(d/2) - psi(nu_0/2) + log(nu_0/2) and variance psi'(d/2) + psi'(nu_0/2).
    Variances that scatter no more than chance explains give nu_0 = `MOST_FREEDOM`.
    """
    logs = np.log(np.maximum(variances, LEAST_SHARE * np.median(variances)))
    logs = logs - digamma(freedom / 2) + np.log(freedom / 2)
    # The trigamma function is zeta(2, x), without the overhead of `polygamma`.
    excess = logs.var(ddof=1) - zeta(2, freedom / 2).mean()
    if excess <= zeta(2, MOST_FREEDOM / 2):
        return Prior(np.float64(MOST_FREEDOM), np.exp(logs.mean()))
    half = brentq(lambda x: zeta(2, x) - excess, 1e-6, MOST_FREEDOM / 2)
    return Prior(np.float64(2 * half), np.exp(logs.mean() + digamma(half) - np.log(half)))


def _priors(count: Array, squares: Array, shared: bool, least: float) -> list[Prior]:
    """Priors (fold, half): one for both sides, or one for IN and one for OUT; count, squares: (side, fold, record)."""
    if shared:
        count, squares = count.sum(0, keepdims=True) - 1, squares.sum(0, keepdims=True)
    priors = [Prior(np.empty((FOLDS, 2)), np.empty((FOLDS, 2))) for _ in count]
    for prior, of_side, squares_of_side in zip(priors, count, squares, strict=True):
        for part in parts(FOLDS, count.shape[-1]):
            freedom = of_side[part.fold] - 1
            known = part.other_records & (freedom > 0)
            if known.sum() < 2:
                raise AuditError(
                    f"{known.sum()} records have a variance among the models of three folds: raise the shadow models"
                )
            variances = squares_of_side[part.fold, known] / freedom[known]
            at = part.fold, part.half
            prior.freedom[at], prior.variance[at] = estimate_prior(np.maximum(variances, least), freedom[known])
    return priors


def _moments_of_other_folds(signals: Floats, membership: Mask) -> tuple[Array, Array]:
    """Number and sum of squares of the models that are not in a fold: (side, fold, record) each."""
    count, mean, squares = np.empty((3, 2, FOLDS, membership.shape[1]))
    for part in record_blocks(membership.shape[1], len(membership)):
        values, member = columns(signals, membership, part)
        for fold, models in enumerate(fold_slices(len(membership))):
            for side, of_side in enumerate((member[models], ~member[models])):
                fitted = fit_moments(values[models], of_side)
                count[side, fold, part], mean[side, fold, part], squares[side, fold, part] = fitted
    mean = np.nan_to_num(mean)
    # Moments of a union: the squares between the folds' means are added to those within.
    others = 1 - np.eye(FOLDS)
    union = others @ count
    centre = others @ (count * mean) / np.maximum(union, 1)
    between = others @ (count * mean**2) - union * centre**2
    return union, np.maximum(others @ squares + between, 0.0)


def _shared_ratio(block: Arranged, inside: Moments, outside: Moments, priors: list[Prior], least: float) -> Array:
    (prior,) = priors
    freedom = prior.freedom + 2 * (inside.count - 1)
    scale = _scale(block, prior, freedom, inside.count, inside.squares + outside.squares, least)
    near, far = (block.values - inside.mean) ** 2, (block.values - outside.mean) ** 2
    gain = (far - near) / (scale + near)
    # Where the values never vary the scale is the least one, and 1 + gain is lost in rounding: a lookup, for example.
    lost = gain < ROUNDED - 1
    logs = np.log1p(np.where(lost, 0.0, gain))
    if lost.any():
        logs = np.where(lost, np.log(scale + far) - np.log(scale + near), logs)
    return block.of_folds((freedom + 1) / 2) * logs


def _own_ratio(block: Arranged, inside: Moments, outside: Moments, priors: list[Prior], least: float) -> Array:
    constants, scales, tails = [], [], []
    for fitted, prior in zip((inside, outside), priors, strict=True):
        freedom = prior.freedom + fitted.count - 1
        scale = _scale(block, prior, freedom, fitted.count, fitted.squares, least)
        constants.append(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
        scales.append(scale)
        tails.append(block.of_folds((freedom + 1) / 2) * np.log1p((block.values - fitted.mean) ** 2 / scale))
    constant = block.of_folds(constants[0] - constants[1])
    return constant + np.log(scales[1] / scales[0]) / 2 + tails[1] - tails[0]


def _scale(block: Arranged, prior: Prior, freedom: Array, count: Indices | int, squares: Array, least: float) -> Array:
    """Squared scale of every target's predictive, times its degrees of freedom (fold, record)."""
    own = prior.freedom * prior.variance
    scale = block.of_folds(own) + squares
    if (own < freedom * least).any():
        scale = np.maximum(scale, block.of_folds(freedom * least))
    return scale * (1 + 1 / count)
