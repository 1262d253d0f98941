"""A combination of attacks: logistic regression on the normal scores of their ranks, cross-fitted."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from memaudit.attacks.cross_fitting import FOLDS, fold_slices, parts
from memaudit.attacks.rmia import rmia
from memaudit.attacks.shrunken_variance import student_t_ratios
from memaudit.common.arrays import Array, Array32, Floats, Mask

# Places of the knots through which scores become normal scores, in deviations: beyond 1 in 100,000 scores are tied.
KNOTS = np.linspace(-4.25, 4.25, 171)
SAMPLE = 1 << 16  # entries behind the knots, and behind each regression


def combined(signals: Floats, membership: Mask, *, population: Floats, gamma: float = 1.0) -> Array32:
    """LiRA with shrunken variances, own and shared, and RMIA, combined by `stack`; (model, record), log-odds.

    signals: (model, record) logit-scaled confidences; population: (model, z) those of records in no model; gamma: of
    RMIA. Raises AuditError as its parts do.
    """
    scores = [normal_scores(rmia(expit(signals), membership, population=expit(population), gamma=gamma))]
    scores += map(normal_scores, student_t_ratios(signals, membership, [True, False], dtype=np.float32))
    return stack(scores, membership, out=scores[0])


def white_box(signals: Floats, membership: Mask, *, population: Floats, gamma: float = 1.0) -> Array32:
    """LiRA on attention, and LiRA and RMIA on the answers, combined by `stack`; (model, record), log-odds.

    signals: (model, record, 3), largest and gap of `attention_signals` and the logit-scaled confidence; population,
    gamma: as for `combined`. Raises AuditError as its parts do.
    """
    *attention, answers = np.moveaxis(signals, -1, 0)
    scores = [normal_scores(rmia(expit(answers), membership, population=expit(population), gamma=gamma))]
    for one in (*attention, answers):
        scores += map(normal_scores, student_t_ratios(one, membership, [False], dtype=np.float32))
    return stack(scores, membership, out=scores[0])


def normal_scores(scores: Floats) -> Array32:
    """Each score's rank among all, as the quantile of the normal distribution with that rank; any shape.

    No membership is used. Linear between knots at quantiles of at most `SAMPLE` scores, evenly spaced in their order.
    Single-precision scores are overwritten.
    """
    flat = scores.ravel()
    knots = np.quantile(flat[:: -(-flat.size // SAMPLE)], ndtr(KNOTS))
    normal = scores if scores.dtype == np.float32 else np.empty(scores.shape, np.float32)
    for row, of_row in zip(normal, scores, strict=True):
        # Interpolation finds values in order several times faster than in any order.
        rising = of_row.argsort()
        row[rising] = np.interp(of_row[rising], knots, KNOTS)
    return normal


def stack(scores: Sequence[Array32], membership: Mask, out: Floats | None = None) -> Floats:
    """Log-odds of membership, (model, record), of a logistic regression on scores (model, record) each.

    The weights of a target come from models of other folds and records of the other half (`attacks.cross_fitting`):
    what is learned about one record's membership is never applied to it. Intercepts are left out: they would order
    folds and halves. out: array for the result, such as one of the scores; None: a new one in double precision.
    """
    weights = np.empty((len(scores), FOLDS, membership.shape[1]))
    for part in parts(*membership.shape):
        models, records = np.flatnonzero(part.other_models), np.flatnonzero(part.other_records)
        chosen = np.arange(0, models.size * records.size, -(-models.size * records.size // SAMPLE))
        learned = models[chosen // records.size], records[chosen % records.size]
        found = logistic_weights(np.stack([score[learned] for score in scores], axis=1), membership[learned])
        weights[:, part.fold, part.half :: 2] = found[:, None]
    combination = np.empty(membership.shape) if out is None else out
    for fold, models in enumerate(fold_slices(len(membership))):
        for model in range(models.start, models.stop):
            combination[model] = sum(weight[fold] * score[model] for weight, score in zip(weights, scores, strict=True))
    return combination


def logistic_weights(features: Floats, member: Mask) -> Array:
    """Maximum-likelihood weights (feature,), none negative, of a logistic regression with an intercept.

    features: (entry, feature), each higher for members; member: (entry,). A negative weight would use the noise of one
    score against another, which few shadow models cannot learn.
    """
    signed = np.where(member, 1.0, -1.0)
    inputs = np.stack([*features.T, np.ones(len(features))]) * signed

    def loss(weights: Array) -> tuple[float, Array]:
        # Not `weights @ inputs`: threads of a product this small wait longer than they compute.
        margin = np.einsum("f,fe->e", weights, inputs)
        odds = np.exp(-np.abs(margin))
        missed = np.where(margin > 0, odds, 1.0) / (1 + odds)
        losses = np.log1p(odds) - np.minimum(margin, 0)
        return float(losses.mean()), -np.einsum("e,fe->f", missed, inputs) / len(features)

    bounds = [(0, None)] * features.shape[1] + [(None, None)]
    return minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds).x[:-1]
