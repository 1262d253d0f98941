"""Finite population bias of efficient LiRA: training sets of shadow models overlap, so signals spread too little.

Jälkö et al. 2026, "On Reliability of Efficient Membership Inference Vulnerability Evaluation", Sections 5 and 6.2.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from memaudit.attacks.gaussian import CONVENTIONS, fit, fit_without_target
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics.record_vulnerability import Gap

Side = Literal["in", "out"]


@dataclass(frozen=True)
class Simulation:
    """Spread of the signal in the Gaussian mean simulation, per record; arrays (record,), by side."""

    norm: Array
    empirical: dict[Side, Array]
    analytic: dict[Side, Array]

    def ratio(self, side: Side, factor: float = 1.0) -> Array:
        """Empirical over analytic sigma, shape (record,), after division by sqrt(factor), a `correction`."""
        return self.empirical[side] / np.sqrt(factor) / self.analytic[side]


def correction(size: int, population: int, kind: Literal["exact", "paper"] = "exact", side: Side = "out") -> float:
    """Finite population correction of a variance over draws of `size` of `population` records.

    paper (Eq. 28): 1 - N/N+. exact, for draws of exactly N: OUT takes N of the N+ - 1 others, 1 - N/(N+ - 1); IN takes
    N - 1 of them, 1 - (N - 1)/(N+ - 1) (Cochran 1977, Section 2.6, with the divisor N+ - 1 of an unbiased variance).
    Raises ValueError unless 1 <= size < population - 1, where some record would always have the same companions.
    """
    if not 1 <= size < population - 1:
        raise ValueError(f"no finite population correction for draws of {size} from {population} records")
    if kind == "paper":
        return 1 - size / population
    return 1 - (size - (side == "in")) / (population - 1)


def simulate(
    membership: Mask, size: int, rng: np.random.Generator, *, dimensions: int = 500, sigma: float = 1.0
) -> Simulation:
    """Section 6.2: records x ~ N(0, sigma^2 I), a model is the mean of its records, the signal is <x, model>.

    membership: bool (model, record), with draws of `size` records, exactly (fixed_size) or on average (Bernoulli).
    Empirical spreads have ddof 0, as in the paper's code. Analytic, for companions drawn from the population: OUT,
    sigma |x| / sqrt(N); IN, where x itself is a constant, sigma |x| sqrt(N - 1) / N.

    Mean ratio over records, averaged over 16 populations, at M = 2048, N = 500, N+ = 1000: .706 with fixed-size draws
    and .707 with Bernoulli draws, single populations within .004. Bernoulli draws vary in size, and with it the share
    1/|D| that x has in the mean: IN stays at 1.013 after correction at N/N+ = .125.
    """
    x = sigma * rng.standard_normal((membership.shape[1], dimensions))
    signals = (membership @ x / membership.sum(1, keepdims=True)) @ x.T
    norm = np.linalg.norm(x, axis=1)
    cells: dict[Side, Mask] = {"in": membership, "out": ~membership}
    empirical = {side: fit(signals, mask, CONVENTIONS["mean"]).sigma for side, mask in cells.items()}
    analytic = {"in": sigma * norm * np.sqrt(size - 1) / size, "out": sigma * norm / np.sqrt(size)}
    return Simulation(norm, empirical, analytic)


def predicted_tpr(
    gap: Gap, fpr: float, correction_out: float = 1.0, correction_in: float = 1.0, direction: Array | None = None
) -> Array:
    """TPR at `fpr` of the one-sided test on each record if its signals are normal, shape (record,).

    direction: sign of each record's gap as other models show it, (record,). Without it the gap's own sign is taken,
    which folds its noise upward: where nothing leaks, 256 models predict .119 at FPR .1.

    Spreads estimated on a grid with a small superset become those of the population by sigma / sqrt(FPC), each side
    with its own factor: Phi((|delta| sqrt(FPC_out)/sigma_out - z) (sigma_out/sigma_in) sqrt(FPC_in/FPC_out)), from
    Eq. 23 and 28. To predict a grid drawn from a larger, but finite, superset, give the ratio of both corrections.
    Thresholds taken from the data do not move with sigma: the correction changes this prediction only.
    """
    threshold = stats.norm.isf(fpr)
    scale = gap.sigma_out / gap.sigma_in * np.sqrt(correction_in / correction_out)
    score = gap.delta / gap.sigma_out
    shift = np.abs(score) if direction is None else direction * score
    return stats.norm.cdf((shift * np.sqrt(correction_out) - threshold) * scale)


def one_sided_test(signals: Array, membership: Mask, direction: Array, fpr: float) -> Mask:
    """Which cells (model, record) the one-sided test calls members, bool, from each record's OUT signals alone.

    direction, (record,), is the sign of each record's gap, known from *another* grid of the same records; so a TPR
    measured here needs no IN signal twice. An OUT cell is left out of its own mean and variance, and the threshold
    t_{n-1} sqrt(1 + 1/n) of n OUT models has exactly the requested FPR if the signals are normal (prediction interval).
    The TPR is the mean over membership, the realised FPR the mean over ~membership. Raises AuditError under 3 OUT
    models.
    """
    out = (~membership).sum(0)
    if out.min() < 3:
        raise AuditError(
            f"record at position {int(out.argmin())} is outside fewer than 3 of {len(membership)} models: use more"
        )
    others = out - ~membership
    outside = fit_without_target(signals, ~membership, CONVENTIONS["ddof1"], leave="self")
    return direction * outside.standardise(signals) > stats.t.isf(fpr, others - 1) * np.sqrt(1 + 1 / others)
