"""Robust membership inference attack (Zarifzadeh, Liu and Shokri 2024)."""

import numpy as np

from memaudit.arrays import Array, Mask
from memaudit.attacks.gaussian import require_shadows
from memaudit.errors import AuditError


def rmia(
    probabilities: Array,
    design: Mask,
    *,
    population: Array,
    gamma: float = 1.0,
    offline: float | None = None,
) -> Array:
    """Share of population records z that x dominates: mean over z of [ (P(x|t)/P(x)) / (P(z|t)/P(z)) > gamma ].

    Every model is target t in turn, the others are its reference models. probabilities: (model, record) of the true
    label; design: (model, record); population: (model, z), probabilities of records that no model saw; gamma: the
    paper's threshold on the ratio; offline: the paper's a, which estimates P from OUT models alone; None: P(x)
    is the mean of the IN and the OUT average, and P(z), which has no IN models, the mean over references.
    Returns (model, record) in [0, 1]. Raises AuditError where a record has fewer than 2 reference models on one side,
    or where the population does not belong to these models.
    """
    require_shadows(design)
    if population.ndim != 2 or len(population) != len(design) or population.shape[1] == 0:
        raise AuditError(
            f"the RMIA population has shape {population.shape}, but {len(design)} models were scored: give one row per"
            " model and at least one record that is in no membership matrix"
        )
    outside = _mean_without_self(probabilities, ~design)
    everyone = _mean_without_self(population, np.ones(population.shape, bool))
    if offline is None:
        marginal = (_mean_without_self(probabilities, design) + outside) / 2
    else:
        marginal, everyone = offline_marginal(outside, offline), offline_marginal(everyone, offline)
    return np.stack(
        [dominated(x, z, gamma) for x, z in zip(probabilities / marginal, population / everyone, strict=True)]
    )


def offline_marginal(outside: Array, a: float) -> Array:
    """P(x) = ((1 + a) P_out(x) + (1 - a)) / 2: what P would be if the IN probability were a P_out + (1 - a)."""
    return ((1 + a) * outside + (1 - a)) / 2


def dominated(ratio_x: Array, ratio_z: Array, gamma: float) -> Array:
    """Share of z with ratio_x / ratio_z > gamma, from one sort: ratio_x (record,), ratio_z (z,), no (record, z)."""
    return np.searchsorted(np.sort(ratio_z), ratio_x / gamma, side="left") / len(ratio_z)


def _mean_without_self(values: Array, member: Mask) -> Array:
    return (np.einsum("mr,mr->r", values, member) - values * member) / (member.sum(0) - member)
