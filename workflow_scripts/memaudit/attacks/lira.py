"""Likelihood-ratio attack, LiRA (Carlini et al. 2022, Eq. 4; Jälkö et al. 2026, Eq. 5).

score of a target = log N(signal; mu_in, sigma_in^2) - log N(signal; mu_out, sigma_out^2); each record's Gaussians are
fitted on the other models that have it in (out of) their training set or context.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.gaussian import (
    CONVENTIONS,
    Convention,
    Gaussian,
    Spread,
    moments_without_target,
    require_shadows,
    side_gaussian,
    squares_about,
    to_sigma,
)
from memaudit.attacks.shadow_sides import Arranged, Leave, Places, arrange, is_balanced, join_sides
from memaudit.common.arrays import Array, Floats, Mask

# (model, record) entries whose float64 temporaries stay in a core's cache: over a whole matrix memory sets the pace.
BLOCK_ENTRIES = 1 << 16
CACHED_MODELS = 512


class Block(NamedTuple):
    """Fits of every target for some records.

    records: slice of the records; values, member: (model, record); inside, outside: fits without the target. Where a
    balanced matrix is fitted without pairs, values are (side, pair, record) and fits (pair, record), see
    `shadow_sides.split_sides`: they take half of the time. places: of the pairs; None otherwise.
    """

    records: slice
    values: Array
    member: Mask
    inside: Gaussian
    outside: Gaussian
    places: Places | None = None

    @property
    def ratio(self) -> Array:
        """Log-likelihood ratios, in nats, of the shape of `values`: the score of LiRA."""
        far, near = self.outside.standardise(self.values), self.inside.standardise(self.values)
        return np.log(self.outside.sigma / self.inside.sigma) + (far**2 - near**2) / 2

    def joined(self, scores: Array) -> Array:
        """Scores of the shape of `values`, as (model, record)."""
        return scores if self.places is None else join_sides(scores, self.places)


def log_likelihood_ratio(
    signals: Floats,
    membership: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Array:
    """log p_in - log p_out of every model as target, the others as its shadow models (efficient LiRA).

    signals: (model, record[, query]) logit-scaled confidences, averaged over queries after scoring; membership:
    (model, record). convention: "mean", "median" or "ddof1" (`CONVENTIONS`); spread: see `Spread`; floor: least
    sigma, for discrete signals `resolution_floor`; leave: what a target's fits do without, see `Leave` (every published
    code: "self"). Returns (model, record), in nats.
    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    options = {"convention": convention, "spread": spread, "floor": floor, "leave": leave}
    return score_blocks(signals, membership, lambda block: block.ratio, **options)


def offline_score(
    signals: Floats,
    membership: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Array:
    """log Pr(OUT < signal), the one-sided test of an attacker without IN models (Carlini et al. 2022, Section VI.B).

    Arguments, shape and errors of `log_likelihood_ratio`.
    """
    options = {"convention": convention, "spread": spread, "floor": floor, "leave": leave}
    return score_blocks(signals, membership, lambda block: block.outside.log_cdf(block.values), **options)


def score_blocks(signals: Floats, membership: Mask, score: Callable[[Block], Array], **options) -> Array:
    """A score of every entry from its fits, mean over queries: (model, record); options of `fitted_blocks`.

    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    require_shadows(membership)
    # Every query of a record is fitted on its own: to the fit it is one more record.
    entries = signals.reshape(len(signals), -1)
    queries = entries.shape[1] // membership.shape[1]
    member = membership.repeat(queries, axis=1) if queries > 1 else membership
    scores = np.empty(entries.shape)
    for block in fitted_blocks(entries, member, **options):
        scores[:, block.records] = block.joined(score(block))
    return scores if queries == 1 else scores.reshape(*membership.shape, queries).mean(-1)


def fitted_blocks(
    signals: Floats,
    membership: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
    records: NDArray[np.int64] | None = None,
) -> Iterator[Block]:
    """IN and OUT fits of every target; options as for `log_likelihood_ratio`.

    signals, membership: (model, record); records: places of those that are fitted, None: all. A block's slice counts
    the fitted ones. A deviation that is pooled over records takes a pass over them of its own.
    """
    rule, pool = CONVENTIONS[convention], Spread(spread)
    count = membership.shape[1] if records is None else len(records)
    # One variance of the raw values of all records is a fault of published code, reproduced for small matrices only:
    # one block.
    parts = [slice(count)] if pool is Spread.RAW else list(record_blocks(count, len(membership)))
    in_pairs = leave == "pair" and pool is not Spread.RAW and is_balanced(membership)

    def arranged() -> Iterator[Arranged]:
        for part in parts:
            yield arrange(*columns(signals, membership, part if records is None else records[part]), leave, in_pairs)

    sigmas = _pooled_sigmas(arranged(), rule, floor, len(membership)) if pool is Spread.POOLED else None
    for part, block in zip(parts, arranged(), strict=True):
        fits = [side_gaussian(side, rule, Spread.PER_RECORD if sigmas else pool, floor) for side in block.sides]
        if sigmas:
            fits = [Gaussian(fit.centre, block.split(sigma)) for fit, sigma in zip(fits, sigmas, strict=True)]
        yield Block(part, block.values, block.member, *fits, block.places)


def columns(signals: Floats, membership: Mask, records: NDArray[np.int64] | slice) -> tuple[Array, Mask]:
    """Signals and membership of some records, (model, record) each; one record's models lie together in memory."""
    shape = (membership[:1, records].shape[1], len(membership))
    values, member = np.empty(shape), np.empty(shape, np.bool_)
    signals, membership = signals[:, records], membership[:, records]
    # A few models at a time: a cache line, which holds several records, is read once.
    for start in range(0, len(membership), CACHED_MODELS):
        models = slice(start, start + CACHED_MODELS)
        values[:, models], member[:, models] = signals[models].T, membership[models].T
    return values.T, member.T


def record_blocks(records: int, models: int) -> Iterator[slice]:
    """Slices of nearly equally many records, of `BLOCK_ENTRIES` entries or fewer, at least one record each."""
    count = -(-records // max(1, BLOCK_ENTRIES // models))
    ends = np.linspace(0, records, count + 1).round().astype(int)
    return (slice(start, end) for start, end in itertools.pairwise(ends.tolist()))


def resolution_floor(resolution: float) -> float:
    """Least sigma of a signal that takes steps of `resolution`: the deviation of rounding, resolution / sqrt(12)."""
    return resolution / 12**0.5


def _pooled_sigmas(blocks: Iterator[Arranged], rule: Convention, floor: float, models: int) -> list[Array]:
    """Standard deviation that all records share, without each target, IN and OUT: (model, 1)."""
    squares, freedom = np.zeros((2, 2, models, 1))
    for block in blocks:
        for number, side in enumerate(block.sides):
            fitted = moments_without_target(side)
            centre = fitted.mean if rule.centre == "mean" else side_gaussian(side, rule, Spread.PER_RECORD).centre
            squares[number] += block.joined(squares_about(fitted, centre)).sum(1, keepdims=True)
            freedom[number] += np.broadcast_to(fitted.count - rule.ddof, block.member.shape).sum(1, keepdims=True)
    return [to_sigma(variance, rule, floor) for variance in squares / freedom]
