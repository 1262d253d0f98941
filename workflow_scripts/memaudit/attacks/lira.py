"""Likelihood-ratio attack, LiRA (Carlini et al. 2022, Eq. 4; Jälkö et al. 2026, Eq. 5).

score of a target = log N(signal; mu_in, sigma_in^2) - log N(signal; mu_out, sigma_out^2); each record's Gaussians are
fitted on the other models that have it in (out of) their training set or context.
"""

import itertools
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.arrays import Array, Mask
from memaudit.attacks.gaussian import (
    CONVENTIONS,
    Gaussian,
    Leave,
    Spread,
    fit_without_target,
    require_shadows,
)

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
    signals: Array,
    design: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Array:
    """log p_in - log p_out of every model as target, the others as its shadow models (efficient LiRA).

    signals: (model, record[, query]) logit-scaled confidences, averaged over queries after scoring; design: membership
    matrix (model, record). convention: "mean", "median" or "ddof1" (`CONVENTIONS`); spread: see `Spread`; floor: least
    sigma, for discrete signals `resolution_floor`; leave: what a target's fits do without, see `Leave` (every published
    code: "self"). Returns (model, record), in nats.
    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    require_shadows(design)
    entries, member = _columns(signals, design)
    ratios = np.empty(entries.shape)
    for block in fitted_blocks(entries, member, convention=convention, spread=spread, floor=floor, leave=leave):
        ratios[:, block.records] = block.ratio
    return ratios.reshape(*design.shape, -1).mean(-1)


def offline_score(
    signals: Array,
    design: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Array:
    """log Pr(OUT < signal), the one-sided test of an attacker without IN models (Carlini et al. 2022, Section VI.B).

    Arguments, shape and errors of `log_likelihood_ratio`.
    """
    require_shadows(design)
    entries, member = _columns(signals, design)
    outside = fit_without_target(entries, ~member, CONVENTIONS[convention], Spread(spread), floor, leave)
    return outside.log_cdf(entries).reshape(*design.shape, -1).mean(-1)


def fitted_blocks(
    signals: NDArray[np.floating],
    design: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
    records: NDArray[np.int64] | None = None,
    order: Literal["K", "F"] = "K",
) -> Iterator[Block]:
    """IN and OUT fits of every target; options as for `log_likelihood_ratio`.

    signals, design: (model, record); records: places of those that are fitted, None: all. A block's slice counts the
    fitted ones. With one deviation for all records there is one block. order: of a block in memory, "K" as the
    signals lie, so that sums round as over the whole matrix; "F", one record's models side by side, is faster.
    """
    rule, pool = CONVENTIONS[convention], Spread(spread)
    count = design.shape[1] if records is None else len(records)
    blocks = record_blocks(count, len(design)) if pool is Spread.PER_RECORD else [slice(count)]
    for block in blocks:
        chosen = block if records is None else records[block]
        values = np.asarray(signals[:, chosen], dtype=np.float64, order=order)
        member = np.asarray(design[:, chosen], order=order)
        fits = (fit_without_target(values, side, rule, pool, floor, leave) for side in (member, ~member))
        yield Block(block, values, member, *fits)


def record_blocks(records: int, models: int) -> Iterator[slice]:
    """Slices of nearly equally many records, of `BLOCK_ENTRIES` entries or fewer, at least one record each."""
    count = -(-records // max(1, BLOCK_ENTRIES // models))
    ends = np.linspace(0, records, count + 1).round().astype(int)
    return (slice(start, end) for start, end in itertools.pairwise(ends.tolist()))


def resolution_floor(resolution: float) -> float:
    """Least sigma of a signal that takes steps of `resolution`: the deviation of rounding, resolution / sqrt(12)."""
    return resolution / 12**0.5


def _columns(signals: Array, design: Mask) -> tuple[Array, Mask]:
    # Every query of a record is fitted on its own: to the fit it is one more record.
    entries = signals.reshape(len(signals), -1)
    return entries, design.repeat(entries.shape[1] // design.shape[1], axis=1)
