"""Attack on a model's predictions about two files, its controls, and planted models that check it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from memaudit.attacks.blind_classifier import blind_scores, stand_in_scores
from memaudit.attacks.prediction_scores import (
    Predictions,
    by_unit,
    compared_with_non_members,
    logits,
    without_fit,
)
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics import two_file_attack as two_files
from memaudit.statistics.fisher_power import smallest_share
from memaudit.studies.audit.prediction_curves import curves

BLIND, STAND_IN, REFERENCES = "blind", "stand-in", "references"
CONTROL_DRAWS = 39
PLANTED_DRAWS = 19
SPLITS = 5  # of the non-members; most of them must not be detected


@dataclass(frozen=True)
class Files:
    """Predictions about the rows of both files; units: (row,) record or person 0, 1, ...; member: (unit,)."""

    predictions: Predictions
    units: Codes
    member: Mask
    offline_a: float

    @cached_property
    def fixed(self) -> dict[str, Array]:
        """Scores (unit,) that no membership changes."""
        return by_unit(without_fit(self.predictions, self.offline_a), self.units)

    def scores(self, member: Mask, half: Mask) -> dict[str, Array]:
        """Every score (unit,) under a membership; a `two_file_attack.Scorer`."""
        fitted = compared_with_non_members(self.predictions, member[self.units], half[self.units])
        return self.fixed | by_unit(fitted, self.units)

    def blind(self, member: Mask, half: Mask) -> dict[str, Array]:
        """The blind attack's score (unit,): features, true class, and for persons their number of rows."""
        space, categorical = self.predictions.known()
        counts = np.bincount(self.units)
        if counts.max() > 1:
            space, categorical = np.column_stack([space, counts[self.units]]), np.append(categorical, False)
        scores = blind_scores(space, categorical, member[self.units], half[self.units])
        return by_unit({BLIND: scores}, self.units)

    def stand_in(self, member: Mask, half: Mask) -> dict[str, Array]:
        """The score (unit,) of a model of the features that has seen none of the rows it scores."""
        scores = stand_in_scores(self.predictions, member[self.units], half[self.units])
        return by_unit({STAND_IN: scores}, self.units)

    def referenced(self, member: Mask, half: Mask) -> dict[str, Array]:
        """Log probability of the true class by the reference models, which have seen neither file."""
        return by_unit({REFERENCES: logits(self.predictions.references).mean(0)}, self.units)

    def lookup(self) -> "Files":
        """The same with a planted leak: the true class of each member's rows has probability 1."""
        rows = self.member[self.units]
        planted = self.predictions.probabilities.copy()
        planted[rows] = np.eye(planted.shape[1])[self.predictions.labels[rows]]
        return replace(self, predictions=replace(self.predictions, probabilities=planted))

    def non_members(self, rng: np.random.Generator) -> "Files":
        """The non-members alone, of which a random half is called members: nothing is to be found."""
        rows = np.flatnonzero(~self.member[self.units])
        units = np.unique(self.units[rows], return_inverse=True)[1]
        called = rng.permutation(units.max() + 1) % 2 == 0
        return Files(self.predictions.of(rows), units, called, self.offline_a)


@dataclass(frozen=True)
class Result:
    """An attack on both files with its permutations, bootstrap weights, AUC with interval, and p-value (max-T)."""

    attacked: two_files.Attacked
    null: Array
    weights: Any
    auc: tuple[float, float, float]
    p_value: float

    @property
    def detected(self) -> bool:
        return two_files.detected(self.auc, self.p_value)

    def value(self, auc: tuple[float, float, float], draws: Array, p: float) -> dict[str, Any]:
        """An AUC as facts for the summary: estimate, interval, mean without a leak, p-value and verdict."""
        facts = _with_interval(auc) | {"null": float(draws.mean())}
        return facts | {"p_value": p, "detected": two_files.detected(auc, p)}


def attack(scorer: two_files.Scorer, member: Mask, rng: np.random.Generator, draws: int, replicates: int) -> Result:
    """Attack both files: scores, permutations, interval and p-value."""
    attacked = two_files.attack(scorer, member, rng)
    null = two_files.permuted(scorer, member, rng, draws)
    weights = two_files.unit_weights(attacked, replicates, rng)
    interval = two_files.auc_interval(attacked, attacked.strongest(), weights)
    return Result(attacked, null, weights, interval, two_files.max_t_p_value(attacked, null))


def results(files: Files, settings: Mapping[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], Result]:
    """Everything that the page states of two files, as facts for the summary, and the attack itself.

    settings: fpr, base_rates, permutations, replicates.
    """
    draws, replicates = settings["permutations"], settings["replicates"]
    found = attack(files.scores, files.member, rng, draws, replicates)
    facts = {
        "curves": curves(found.attacked, found.weights, settings["fpr"]),
        "auc": found.value(found.auc, found.null[-1], found.p_value),
        "chosen": [found.attacked.names[place] for place in found.attacked.chosen],
        "scores": _single_scores(found),
        "controls": _controls(files, found, rng),
        "accusations": _accusations(found, settings["fpr"], settings["base_rates"]),
        "smallest_auc": two_files.smallest_auc(found.null, files.member),
        "planted": planted(files, rng, replicates),
    }
    return facts, found


def _single_scores(found: Result) -> list[dict[str, Any]]:
    """AUC of every score by itself, with the p-value that counts all of them, the largest first."""
    rows = []
    for place, name in enumerate(found.attacked.names):
        interval = two_files.auc_interval(found.attacked, found.attacked.values[place], found.weights)
        p = two_files.permutation_p_value(interval[0], found.null[place])
        rows.append({"name": name, "auc": found.value(interval, found.null[place], p)})
    return sorted(rows, key=lambda row: -row["auc"]["estimate"])


def _controls(files: Files, found: Result, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The attacks that cannot see memory, on the halves of the attack, and by how much it exceeds them."""
    scorers = {BLIND: files.blind}
    if files.predictions.features.shape[1]:
        scorers[STAND_IN] = files.stand_in
    if len(files.predictions.references):
        scorers[REFERENCES] = files.referenced
    rows = []
    for name, scorer in scorers.items():
        scores = scorer(files.member, found.attacked.half)[name]
        null = two_files.permuted(scorer, files.member, rng, CONTROL_DRAWS)[0]
        interval = two_files.auc_interval(found.attacked, scores, found.weights)
        excess = two_files.excess_interval(found.attacked, found.attacked.strongest(), scores, found.weights)
        row = {"name": name, "auc": found.value(interval, null, two_files.permutation_p_value(interval[0], null))}
        rows.append(row | {"excess": _with_interval(excess)})
    return rows


def _accusations(found: Result, fpr: float, base_rates: list[float]) -> dict[str, Any] | None:
    """Rates at the strict threshold and precision by base rate; None for too few non-members."""
    if not two_files.enough_for(fpr, found.attacked.member):
        return None
    accused = two_files.accuse(found.attacked, fpr)
    rates = {key: _with_interval(getattr(accused, key)) for key in ("tpr", "fpr")}
    facts = {"p_value": accused.p_value, "detected": accused.p_value <= two_files.SIGNIFICANT}
    worth = {f"{rate:g}": _with_interval(accused.precision(rate)) for rate in base_rates}
    counts = {key: getattr(accused, key) for key in ("accused_members", "accused_non_members")}
    smallest = {"smallest_tpr": smallest_share(accused.members, accused.non_members, fpr)}
    return {**rates, **facts, **counts, **smallest, "precision": worth}


def _with_interval(numbers: tuple[float, float, float]) -> dict[str, float | None]:
    """Estimate and ends of an interval by name; None for what is not defined."""
    return {key: None if np.isnan(one) else one for key, one in zip(("estimate", "low", "high"), numbers, strict=True)}


def planted(files: Files, rng: np.random.Generator, replicates: int) -> dict[str, Any]:
    """Whether a planted lookup is found, and in how many random splits of the non-members something is."""
    lookup = files.lookup()
    changed = files.predictions.probabilities != lookup.predictions.probabilities
    found = attack(lookup.scores, files.member, rng, PLANTED_DRAWS, replicates)
    splits = 0
    for _ in range(SPLITS):
        innocent = files.non_members(rng)
        splits += attack(innocent.scores, innocent.member, rng, PLANTED_DRAWS, replicates).detected
    return {
        "lookup": found.value(found.auc, found.null[-1], found.p_value),
        "lookup_changed": float(changed.any(1)[files.member[files.units]].mean()),
        "splits": SPLITS,
        "splits_detected": splits,
    }
