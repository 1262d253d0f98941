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
    Leave,
    Spread,
    is_balanced,
    join_sides,
    moments_without_target,
    one_side,
    pooled_squares,
    require_shadows,
    side_gaussian,
    sides,
    split_sides,
    to_sigma,
)
from memaudit.common.arrays import Array, Floats, Mask

# (model, record) entries whose float64 temporaries stay in a core's cache: over a whole matrix memory sets the pace.
BLOCK_ENTRIES = 1 << 15


class Block(NamedTuple):
    """Fits of every target for some records.

    records: slice of the records; values, member: (model, record); inside, outside: fits without the target.
    """

    records: slice
    values: Array
    member: Mask
    inside: Gaussian
    outside: Gaussian

    @property
    def ratio(self) -> Array:
        """Log-likelihood ratios (model, record), in nats: the score of LiRA."""
        return self.inside.log_density(self.values) - self.outside.log_density(self.values)


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
    in_pairs = options["leave"] == "pair" and options.get("spread") in (None, "per_record") and is_balanced(membership)
    for block in (paired_blocks if in_pairs else fitted_blocks)(entries, member, **options):
        found = score(block)
        scores[:, block.records] = join_sides(found, block.member) if in_pairs else found
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
    chosen = np.arange(membership.shape[1]) if records is None else records
    # Raw values of all records make one variance, a published fault that nobody needs at size: one block.
    blocks = [slice(len(chosen))] if pool is Spread.RAW else list(record_blocks(len(chosen), len(membership)))
    own = Spread.PER_RECORD if pool is Spread.POOLED else pool
    sigmas = _pooled_sigmas(signals, membership, chosen, blocks, rule, floor, leave) if pool is Spread.POOLED else None
    for part in blocks:
        values, member = columns(signals, membership, chosen[part])
        fits = [side_gaussian(side, rule, own, floor) for side in sides(values, member, leave)]
        if sigmas is not None:
            fits = [Gaussian(fit.centre, sigma) for fit, sigma in zip(fits, sigmas, strict=True)]
        yield Block(part, values, member, *fits)


def paired_blocks(
    signals: Floats,
    membership: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Iterator[Block]:
    """`fitted_blocks` of a balanced matrix with pairs left out, in half the time: values (side, pair, record).

    Fits are (pair, record), see `gaussian.split_sides`; `member` is (model, record), to put scores into their places.
    """
    rule = CONVENTIONS[convention]
    for part in record_blocks(membership.shape[1], len(membership)):
        values, member = columns(signals, membership, part)
        split = split_sides(values, member)
        fits = (side_gaussian(one_side(side), rule, Spread(spread), floor) for side in split)
        yield Block(part, split, member, *fits)


def columns(signals: Floats, membership: Mask, records: NDArray[np.int64] | slice) -> tuple[Array, Mask]:
    """Signals and membership of some records, (model, record) each; one record's models lie together in memory."""
    values = np.asarray(signals[:, records], dtype=np.float64, order="F")
    return values, np.asarray(membership[:, records], order="F")


def record_blocks(records: int, models: int) -> Iterator[slice]:
    """Slices of nearly equally many records, of `BLOCK_ENTRIES` entries or fewer, at least one record each."""
    count = -(-records // max(1, BLOCK_ENTRIES // models))
    ends = np.linspace(0, records, count + 1).round().astype(int)
    return (slice(start, end) for start, end in itertools.pairwise(ends.tolist()))


def resolution_floor(resolution: float) -> float:
    """Least sigma of a signal that takes steps of `resolution`: the deviation of rounding, resolution / sqrt(12)."""
    return resolution / 12**0.5


def _pooled_sigmas(
    signals: Floats,
    membership: Mask,
    records: NDArray[np.int64],
    blocks: list[slice],
    rule: Convention,
    floor: float,
    leave: Leave,
) -> list[Array]:
    """Standard deviation that all records share, without each target, IN and OUT: (model, 1)."""
    totals = np.zeros((2, 2, len(membership)))
    for part in blocks:
        for number, side in enumerate(sides(*columns(signals, membership, records[part]), leave)):
            centre = side_gaussian(side, rule, Spread.PER_RECORD).centre
            totals[number] += pooled_squares(moments_without_target(side), centre, rule.ddof)
    return [to_sigma(squares / freedom, rule, floor)[:, None] for squares, freedom in totals]
