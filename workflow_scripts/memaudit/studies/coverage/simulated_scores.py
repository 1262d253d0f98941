"""Simulated score matrices of a population of models and records, and their true AUC and TPR."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import roc

FPR = 0.1
DRAWS = 300_000  # of either class, for the true values: the standard error of an AUC is below 6e-4


class Population(NamedTuple):
    """A signal: model effect + record effect + noise, and for members the record's own shift.

    models, records: size of the matrix that is drawn; shift, shift_sd: mean and deviation of the records' shifts;
    model_sd, record_sd: deviations of the effects; noise: its deviation; freedom: of its Student's t, 0: normal.
    """

    models: int = 16
    records: int = 60
    shift: float = 0.0
    shift_sd: float = 0.0
    model_sd: float = 0.3
    record_sd: float = 0.3
    noise: float = 1.0
    freedom: int = 0


SCENARIOS = {
    "null": Population(),
    "weak": Population(shift=0.3, shift_sd=0.3),
    "strong": Population(shift=2.0, shift_sd=0.5),
    "heterogeneous": Population(shift=0.5, shift_sd=3.0),
    "heavy-tailed": Population(shift=0.5, shift_sd=0.5, freedom=3),
    "few records": Population(models=64, records=8, shift=0.5, shift_sd=3.0),
    "few contexts": Population(models=6, records=200, shift=0.5, model_sd=3.0),
}
OPTIONS = {name: {"population": population} for name, population in SCENARIOS.items()}


def noise(population: Population, shape: int | tuple[int, ...], rng: np.random.Generator) -> Array:
    """Noise of each entry."""
    drawn = rng.standard_t(population.freedom, shape) if population.freedom else rng.standard_normal(shape)
    return population.noise * drawn


def balanced(models: int, records: int, rng: np.random.Generator) -> Mask:
    """Membership (model, record): each record is in exactly half of the models."""
    return rng.random((models, records)).argsort(0) < models // 2


def companion_effects(member: Mask, size: int) -> Array:
    """Twice the product of the memberships, 1 or -1, of the other records of each group of `size`; 0 for none."""
    if not size:
        return np.zeros(member.shape)
    signs = (2.0 * member - 1).reshape(len(member), -1, size)
    return 2 * (signs.prod(-1, keepdims=True) * signs).reshape(member.shape)


def draw(population: Population, rng: np.random.Generator, copies: int = 1) -> tuple[Array, Mask, Array]:
    """Signals and balanced membership (model, record), and the shift of each record.

    copies: records of one unit, which share their effect, their shift and their membership; `records` counts units.
    """
    units = population.records
    member = balanced(population.models, units, rng).repeat(copies, axis=1)
    shifts = (population.shift + population.shift_sd * rng.standard_normal(units)).repeat(copies)
    effects = population.record_sd * rng.standard_normal(units).repeat(copies)
    effects = effects + population.model_sd * rng.standard_normal((population.models, 1))
    return effects + noise(population, member.shape, rng) + member * shifts, member, shifts


@lru_cache
def true_metrics(population: Population, added_noise: float = 0.0) -> Array:
    """AUC and TPR at FPR .1 of an entry of another model and record than the one it is compared with; (2,).

    added_noise: deviation of further normal noise, a second attack on the same signals.
    """
    rng = np.random.default_rng(20)
    spread = np.sqrt(population.model_sd**2 + population.record_sd**2 + added_noise**2)
    outside, inside = (
        spread * rng.standard_normal(DRAWS) + noise(population, DRAWS, rng) + shift
        for shift in (0.0, population.shift + population.shift_sd * rng.standard_normal(DRAWS))
    )
    curve = roc.curve(roc.rank(np.concatenate([inside, outside]), np.arange(2 * DRAWS) < DRAWS))
    return np.array([roc.area(*curve), *roc.at_fpr(*curve, [FPR])])
