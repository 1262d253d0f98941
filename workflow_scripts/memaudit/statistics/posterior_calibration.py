"""Calibration of posterior membership probabilities on shadow contexts that the fit has not seen.

LiRA's log-likelihood ratios from few shadow models are overconfident: of 400 simulated records without a leak at 16
models, the posteriors miss the share of members by .15 on average, calibrated ones by .015. A calibrated ratio is the
log-odds of the share of members among the entries of like score in other models, of all records alike unless a record's
own entries show that its log-odds rise faster: among 200 records, a single one that leaks completely is lost in bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logit, ndtri, softmax
from sklearn.isotonic import IsotonicRegression

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics.record_vulnerability import Population

FOLDS = 5
FEWEST_MODELS = 16
MOST_BINS = 50
FEWEST_ENTRIES = 30  # of a bin: no pooled ratio is above 31 : 1 at even odds, however few entries there are
SLOPES = (0.0, 1.0, 2.0, 4.0, 6.0)  # of a record's log-odds beyond the pooled ones, per normal quantile of the score
FEWEST_RECORDS = 0.3  # of a slope: one that explains fewer is left out
EM_STEPS = 100


@dataclass(frozen=True)
class Reliability:
    """Bins of (model, record) entries: mean predicted probability, share of members, and number of entries, (bin,)."""

    predicted: Array
    members: Array
    entries: Array

    @property
    def error(self) -> float:
        """Expected calibration error: mean |predicted - share of members| over the entries."""
        return float(np.average(np.abs(self.predicted - self.members), weights=self.entries))


def calibrated_ratios(scores: Array, membership: Mask, rng: np.random.Generator) -> Array:
    """Calibrated log-likelihood ratios, (model, record), in nats, each fitted on the models of other folds.

    scores: (model, record), higher = more likely a member, on any scale. In bins of equally many entries the share of
    members, shrunk by one member and one non-member per bin, rises with the score (isotonic regression); the pooled
    ratio is its log-odds minus those of all entries. The log-odds of a record may rise faster, by one of `SLOPES`, with
    the posterior weights that its entries in the other folds give (a mixture of logistic regressions). Random folds of
    whole models. Raises AuditError for fewer than 16 models: of 8 a tenth of the posteriors above .95 are wrong.
    """
    if len(scores) < FEWEST_MODELS:
        raise AuditError(f"{len(scores)} models give no calibrated posteriors, {FEWEST_MODELS} do: use more models")
    fold = rng.permutation(len(scores)) % FOLDS
    ratios = np.empty(scores.shape)
    for number in range(FOLDS):
        held = fold == number
        ratios[held] = _fitted_ratio(scores[~held], membership[~held], scores[held])
    return ratios


def reliability(probabilities: Array, membership: Mask, bins: int = 10) -> Reliability:
    """Predicted membership probabilities against the share of members, in bins of about equally many entries.

    probabilities, membership: (model, record), the probabilities at the base rate of the membership matrix.
    """
    bin_of, count = _bins(probabilities, probabilities, bins)
    entries = np.bincount(bin_of.ravel(), minlength=count)
    sums = (np.bincount(bin_of.ravel(), values.ravel(), minlength=count) for values in (probabilities, membership))
    kept = entries > 0
    predicted, members = (total[kept] / entries[kept] for total in sums)
    return Reliability(predicted, members, entries[kept].astype(float))


def member_posteriors(
    ratios: Array,
    signals: Array,
    membership: Mask,
    population: Population,
    base_rates: Sequence[float],
    rng: np.random.Generator,
) -> Array:
    """Posterior membership probability of each record, a mean over contexts that contain it: (record, base rate).

    ratios: `calibrated_ratios`; signals, membership: (model, record); population: of the vulnerability scores. A
    record's own mean is too large where the record was selected by the same contexts: at 32 models with d = 1 for all,
    it is .69 for the 20 highest of 400 records, and .62 in new contexts. So means in one random half of the models are
    regressed (isotonic) on the vulnerability score in the other half, and predicted from the score in all models (.62).
    Raises AuditError where halves leave no record with 2 models on each side.
    """
    half = rng.permutation(len(membership)) % 2 == 0
    scores, means = [], []
    for chosen, other in ((half, ~half), (~half, half)):
        fewest = np.minimum(membership[chosen].sum(0), (~membership[chosen]).sum(0))
        kept = (fewest >= 2) & membership[other].any(0)
        if not kept.any():
            raise AuditError(f"halves of {len(membership)} models have no record with 2 IN and 2 OUT: use more models")
        scores.append(population.scores(signals[np.ix_(chosen, kept)], membership[np.ix_(chosen, kept)]))
        means.append(_means_inside(ratios[np.ix_(other, kept)], membership[np.ix_(other, kept)], base_rates))
    predictors, outcomes, targets = (
        np.concatenate(scores),
        np.concatenate(means),
        population.scores(signals, membership),
    )
    rising = (IsotonicRegression(out_of_bounds="clip").fit(predictors, outcome) for outcome in outcomes.T)
    return np.column_stack([fitted.predict(targets) for fitted in rising])


def _means_inside(ratios: Array, membership: Mask, base_rates: Sequence[float]) -> Array:
    """Mean posterior of each record over the models that contain it: (record, base rate)."""
    posteriors = (expit(ratios + logit(rate)) for rate in base_rates)
    return np.column_stack([(posterior * membership).sum(0) / membership.sum(0) for posterior in posteriors])


def _fitted_ratio(scores: Array, membership: Mask, targets: Array) -> Array:
    """Log-likelihood ratio of the targets' scores from entries of the same records with known membership."""
    known, base, every = len(scores), float(membership.mean()), np.concatenate([scores, targets])
    pooled, quantile = _pooled_ratio(scores, membership, every), _normal_quantiles(scores, every)
    log_odds = np.stack([_at_base_rate(pooled + slope * quantile, known, base) for slope in SLOPES])
    weights = _slope_weights(log_expit(np.where(membership, 1, -1) * log_odds[:, :known]).sum(1))
    posterior = (weights[:, None] * expit(log_odds[:, known:])).sum(0)
    least = 1 / (scores.size + 2)
    return logit(least + (1 - 2 * least) * posterior) - logit(base)


def _slope_weights(log_likelihood: Array) -> Array:
    """Posterior weight of each slope for each record, (slope, record), by EM over the records.

    A slope has FEWEST_RECORDS records fewer than it explains, and that of 0 one more, so that chance slopes vanish.
    """
    shares = np.full(len(SLOPES), 1 / len(SLOPES))
    for _ in range(EM_STEPS):
        records = softmax(log_likelihood + np.log(shares)[:, None], axis=0).sum(1)
        records = np.concatenate([[records[0] + 1], np.maximum(records[1:] - FEWEST_RECORDS, np.finfo(float).tiny)])
        shares = records / records.sum()
    return softmax(log_likelihood + np.log(shares)[:, None], axis=0)


def _at_base_rate(log_odds: Array, known: int, base: float) -> Array:
    """Log-odds, shifted so that the probabilities of the first `known` models have the mean `base`."""
    return log_odds + brentq(lambda level: expit(log_odds[:known] + level).mean() - base, -60, 60)


def _normal_quantiles(scores: Array, targets: Array) -> Array:
    """Normal quantile of each target's rank among the scores; ties have the middle rank."""
    ordered = np.sort(scores, axis=None)
    ranks = sum(np.searchsorted(ordered, targets, side) for side in ("left", "right")) / 2
    return ndtri((ranks + 0.5) / (ordered.size + 1))


def _pooled_ratio(scores: Array, membership: Mask, targets: Array) -> Array:
    """Log-likelihood ratio of the targets' scores from entries of any records with known membership."""
    bins = int(np.clip(scores.size // FEWEST_ENTRIES, 1, MOST_BINS))
    bin_of, count = _bins(scores, scores, bins)
    entries = np.bincount(bin_of.ravel(), minlength=count)
    members = np.bincount(bin_of.ravel(), membership.ravel(), minlength=count)
    share = (members + 1) / (entries + 2)
    rising = IsotonicRegression().fit_transform(np.arange(count), share, sample_weight=entries + 2)
    return (logit(rising) - logit(membership.mean()))[_bins(scores, targets, bins)[0]]


def _bins(scores: Array, targets: Array, bins: int) -> tuple[Array, int]:
    """Bin of every target among bins of equally many scores, and the number of bins; ties share a bin."""
    edges = np.unique(np.quantile(scores, np.arange(1, bins) / bins))
    return np.searchsorted(edges, targets, side="right"), len(edges) + 1
