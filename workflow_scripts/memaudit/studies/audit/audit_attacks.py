"""The passive attacks of an audit on its score matrices, as permitted by the threats that the user named."""

from collections.abc import Collection, Mapping

import numpy as np
import xarray as xr

from memaudit.attacks import registry
from memaudit.attacks.attack_entry import LABELS, PROBABILITIES, Attack
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import REGISTRY
from memaudit.attacks.regression_signals import errors, predicts_numbers
from memaudit.attacks.score_matrices import confidence, labels, threshold_signals, variant
from memaudit.attacks.signals import correctness
from memaudit.common.arrays import Array
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import threat_models
from memaudit.statistics.strongest_score import Panel
from memaudit.statistics.threat_models import Case, case

RAW_LABELS, LABEL_CALIBRATED = "correctness", ("lira correctness", "lira correctness shrunk")
RAW_ERROR, ERROR_CALIBRATED = "absolute error", ("lira error", "lira error shrunk")


def first_variant(grid: xr.Dataset) -> xr.Dataset:
    """The score matrix of the first variant: contexts of the usual size, without mitigations."""
    return variant(grid, grid.variant.values[0])


def permitted(threats: Collection[str]) -> str:
    """What the adversary reads: labels alone, if they are named and probabilities are not."""
    return LABELS if "labels" in threats and "probabilities" not in threats else PROBABILITIES


def permits(threats: Collection[str], attack: str) -> bool:
    """Whether the adversary can read what an attack reads."""
    return REGISTRY[attack].reads in (LABELS, permitted(threats))


def candidates(
    queried: xr.Dataset, population: xr.Dataset, threats: Collection[str], rmia: Mapping[str, float]
) -> dict[str, Attack]:
    """Every permitted attack of the registry on the answer to one query, by name.

    queried: score matrix of the attacked records; population: of records in no context; rmia: gamma and offline_a.
    """
    calibrated = permitted(threats) == PROBABILITIES
    signals = (confidence(queried), confidence(population)) if calibrated else (None, None)
    return attacks_on(names_on(queried, threats), queried, *signals, rmia)


def names_on(queried: xr.Dataset, threats: Collection[str]) -> list[str]:
    """Names of the permitted attacks on answers to one query."""
    return registry.of_one_query(permitted(threats), "regression" if predicts_numbers(queried) else "classification")


def attacks_on(
    names: Collection[str],
    queried: xr.Dataset,
    signals: Array | None,
    population: Array | None,
    rmia: Mapping[str, float],
) -> dict[str, Attack]:
    """These attacks of the registry on the answer to one query, by name.

    signals: (model, record) `confidence` of the queried records, population: (model, z) of records in no context; None
    for an adversary who reads labels alone. rmia: gamma and offline_a.
    """
    numbers, wanted = predicts_numbers(queried), set(names)
    attacks: dict[str, Attack] = {}
    if wanted & {RAW_ERROR, *ERROR_CALIBRATED, RAW_LABELS, *LABEL_CALIBRATED}:
        attacks = _on_numbers(queried) if numbers else _on_labels(queried)
    if numbers:
        attacks |= {"loss": registry.attack("loss", signals)} if "loss" in wanted else {}
    elif wanted & (set(threat_models.THRESHOLDS) - {RAW_LABELS}):
        thresholds = {name: registry.attack(name, values) for name, values in threshold_signals(queried).items()}
        attacks = thresholds | attacks
    calibrated = {name: name for name in names if name not in attacks}
    if calibrated:
        attacks |= registry.on_confidence(calibrated, signals, population, rmia)
    return {name: attacks[name] for name in names}


def _on_labels(queried: xr.Dataset) -> dict[str, Attack]:
    """Attacks of an adversary who reads the predicted class."""
    right = correctness(queried.logits.values.astype(float), labels(queried))
    calibrated = {name: registry.attack(name, right, floor=resolution_floor(1)) for name in LABEL_CALIBRATED}
    return {RAW_LABELS: registry.attack(RAW_LABELS, right)} | calibrated


def _on_numbers(queried: xr.Dataset) -> dict[str, Attack]:
    """Attacks of an adversary who reads the predicted number."""
    error = errors(queried)
    calibrated = {name: registry.attack(name, error) for name in ERROR_CALIBRATED}
    return {RAW_ERROR: registry.attack(RAW_ERROR, -np.abs(error))} | calibrated


def panels(grid: xr.Dataset, threats: Collection[str], rmia: Mapping[str, float]) -> dict[str, Panel]:
    """The candidates on all members: as "members" by record, and as "persons" by unit where one has several records."""
    members, others = (grid.isel(record=side) for side in (grid.member.values, ~grid.member.values))
    attacks = candidates(members, others, threats, rmia)
    facts = attacks, members.design.values, members.unit.values, Scheme.of(grid.attrs)
    found = {"members": Panel.of_records(*facts)}
    if by_persons(grid):
        found["persons"] = Panel.of_units(*facts)
    return found


def by_persons(grid: xr.Dataset) -> bool:
    """Whether some member shares its privacy unit with another one, so that units are attacked."""
    units = grid.unit.values[grid.member.values]
    return len(np.unique(units)) < len(units)


def compared(threats: Collection[str], numbers: bool = False) -> str:
    """The attack by which models are compared: LiRA on what the adversary reads; numbers: whether of regressors."""
    if permitted(threats) == PROBABILITIES:
        return "lira"
    return (ERROR_CALIBRATED if numbers else LABEL_CALIBRATED)[0]


def signals(members: xr.Dataset, threats: Collection[str]) -> Array:
    """What the adversary reads of each record, (model, record): confidence, correctness, or minus the absolute error.

    The vulnerability of a record is measured on it.
    """
    if permitted(threats) == PROBABILITIES:
        return confidence(members)
    if predicts_numbers(members):
        return -np.abs(errors(members))
    return correctness(members.logits.values.astype(float), labels(members)).astype(np.float64)


def on_members(grid: xr.Dataset, model: str, threats: Collection[str], records: str = "members") -> Case:
    """The attack of `compared` on all members, by an adversary who leaves the context as it is.

    model: its key in the results; records: the key of the attacked records.
    """
    members, name = grid.isel(record=grid.member.values), compared(threats, predicts_numbers(grid))
    if name == "lira":
        attack = registry.attack(name, confidence(members))
    else:
        attack = (_on_numbers if predicts_numbers(grid) else _on_labels)(members)[name]
    return case({"dataset": grid.dataset, "model": model, "records": records}, name, attack, members)


def main_alike(main: xr.Dataset, other: xr.Dataset, model: str, threats: Collection[str]) -> Case:
    """`on_members` of the main model with as many shadow contexts as another model has, for a fair comparison."""
    return on_members(main.isel(model=slice(other.sizes["model"])), model, threats, "main alike")
