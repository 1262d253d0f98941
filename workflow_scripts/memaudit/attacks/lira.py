"""Likelihood-ratio attack (Carlini et al. 2022, Eq. 4; papers/lira-reliability.md, Eq. 5)."""

from typing import Literal

from memaudit.attacks.gaussian import (
    CONVENTIONS,
    Array,
    Gaussian,
    Leave,
    Mask,
    Spread,
    fit_without_target,
    require_shadows,
)

Form = Literal["cdf", "density"]


def log_likelihood_ratio(
    signals: Array,
    design: Mask,
    *,
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
    as_published: bool = False,
) -> Array:
    """log p_in - log p_out of every model as target, the others as its shadow models (efficient LiRA).

    signals: (model, record[, query]) logit-scaled confidences, averaged over queries after scoring; design: (model,
    record). convention: "mean", "median" or "ddof1" (`CONVENTIONS`); spread: see `Spread`; floor: least sigma, for
    discrete signals `resolution_floor`; leave: what a target's fits do without, see `Leave` (every published code:
    "self"). as_published: the fault of tensorflow/privacy's fixed variance, raw values pooled and the IN deviation
    taken for OUT too; never a default. Returns (model, record), in nats.
    Raises AuditError where a record has fewer than 2 shadow models on one side.
    """
    require_shadows(design)
    rule = CONVENTIONS[convention]
    cells, member = _columns(signals, design)
    pool = Spread.RAW if as_published else Spread(spread)
    inside = fit_without_target(cells, member, rule, pool, floor, leave)
    outside = fit_without_target(cells, ~member, rule, pool, floor, leave)
    if as_published:
        outside = Gaussian(outside.centre, inside.sigma)
    return online(cells, inside, outside).reshape(*design.shape, -1).mean(-1)


def offline_score(
    signals: Array,
    design: Mask,
    *,
    form: Form = "cdf",
    convention: str = "mean",
    spread: str = "per_record",
    floor: float = 0.0,
    leave: Leave = "pair",
) -> Array:
    """Attack that knows the OUT fit alone; arguments, shape, errors of `log_likelihood_ratio`; form: see `offline`."""
    require_shadows(design)
    cells, member = _columns(signals, design)
    outside = fit_without_target(cells, ~member, CONVENTIONS[convention], Spread(spread), floor, leave)
    return offline(cells, outside, form).reshape(*design.shape, -1).mean(-1)


def online(target: Array, inside: Gaussian, outside: Gaussian) -> Array:
    """log p_in(target) - log p_out(target)."""
    return inside.log_density(target) - outside.log_density(target)


def offline(target: Array, outside: Gaussian, form: Form = "cdf") -> Array:
    """Score from the OUT fit alone.

    "cdf": log Pr(OUT < signal), the paper's one-sided test (Carlini et al. 2022; the default). "density":
    -log p_out(signal), as tensorflow/privacy's code does: two-sided, a signal far *below* OUT counts as member too.
    """
    return outside.log_cdf(target) if form == "cdf" else -outside.log_density(target)


def resolution_floor(resolution: float) -> float:
    """Least sigma of a signal that takes steps of `resolution`: the deviation of rounding, resolution / sqrt(12)."""
    return resolution / 12**0.5


def _columns(signals: Array, design: Mask) -> tuple[Array, Mask]:
    # Every query of a record is fitted on its own: to the fit it is one more record.
    cells = signals.reshape(len(signals), -1)
    return cells, design.repeat(cells.shape[1] // design.shape[1], axis=1)
