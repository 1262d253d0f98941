"""Effects of known size planted into the answers of an audit, to see what the audit finds.

The members of each context are drawn again by the membership matrix's own scheme, so that the answers do not depend on
them. Then the answers about these members are changed. Everything else is the run's own: contexts, records, noise and
outliers. Redrawn memberships without a change are an innocent model: there is nothing to find.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import xarray as xr

from memaudit.attacks.attack_entry import PROBABILITIES
from memaudit.attacks.regression_signals import TOP, predicts_numbers
from memaudit.attacks.score_matrices import confidence
from memaudit.attacks.signals import CLIP
from memaudit.common.arrays import Array, Mask
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.scorable_redraws import redraw
from memaudit.statistics.strongest_score import Panel
from memaudit.studies.audit.audit_attacks import RAW_ERROR, RAW_LABELS, attacks_on, by_persons, names_on, permitted

CERTAIN = 40.0  # nats between the logit of a record that was looked up and the others: a probability of 1
UNCHANGED = 1e-6  # nats
MOST_CONFIDENT = float(np.log1p(-CLIP) - np.log(CLIP))  # of `score_matrices.confidence`


def random_units(members: xr.Dataset, entries: int, rng: np.random.Generator) -> xr.Dataset:
    """The score matrix of as many random units as have at most so many entries (model, record), 8 units at least."""
    units = members.unit.values
    codes, sizes = np.unique(units, return_counts=True)
    order = rng.permutation(len(codes))
    fitting = int((np.cumsum(sizes[order]) * members.sizes["model"] <= entries).sum())
    chosen = np.isin(units, codes[order[: max(fitting, 8)]])
    return members if chosen.all() else members.isel(record=chosen)


@dataclass(frozen=True)
class Answers:
    """Answers of a run about members and about records in no context, and how they are attacked.

    members, others: score matrices; threats: of the user; rmia: gamma and offline_a; persons: whether persons are
    attacked, not records.
    """

    members: xr.Dataset
    others: xr.Dataset
    threats: Collection[str]
    rmia: Mapping[str, float]
    persons: bool = False

    @classmethod
    def of(cls, grid: xr.Dataset, threats: Collection[str], rmia: Mapping[str, float]) -> Self:
        """The answers of a score matrix; persons are attacked where one of them has several records."""
        members, others = (grid.isel(record=side) for side in (grid.member.values, ~grid.member.values))
        return cls(members, others, threats, rmia, by_persons(grid))

    @property
    def scheme(self) -> Scheme:
        """How the membership matrix was drawn."""
        return Scheme.of(self.members.attrs)

    @cached_property
    def signals(self) -> Array | None:
        """Confidence (model, record) of the members, None for an adversary who reads labels alone."""
        return confidence(self.members) if self._reads_probabilities else None

    @cached_property
    def population(self) -> Array | None:
        """The same (model, z) of the records in no context."""
        return confidence(self.others) if self._reads_probabilities else None

    @property
    def _reads_probabilities(self) -> bool:
        return permitted(self.threats) == PROBABILITIES

    @cached_property
    def deviations(self) -> Array:
        """Standard deviation (record,) over contexts of the confidence in the true class."""
        signals = confidence(self.members) if self.signals is None else self.signals
        return signals.std(0, ddof=1)

    def of_units(self, entries: int, rng: np.random.Generator) -> Self:
        """The answers about as many random units as have at most so many entries (model, record), 8 units at least."""
        members = random_units(self.members, entries, rng)
        return self if members is self.members else replace(self, members=members)

    def redrawn(self, rng: np.random.Generator) -> Mask:
        """A membership matrix (model, record) that is as likely as the run's, as `scorable_redraws.redraw`."""
        return redraw(self.scheme, self.members.design.values, self.members.unit.values, rng)

    def panel(self, membership: Mask, effect: float = 0.0, names: Collection[str] | None = None) -> Panel:
        """The permitted attacks where the answers about these members (model, record) are shifted.

        effect: what is added to the logit of the true class (log density), in standard deviations of the record's own
        confidence over contexts; names: of the attacks, by default all.
        """
        shift = effect * self.deviations * membership
        made = self._more_exact(effect, membership) if predicts_numbers(self.members) else self._with_logits(shift)
        return self._panel(made, self._clipped(shift), membership, names)

    def looked_up(self) -> Panel:
        """The permitted attacks on a model that looks records up: the true class of members has probability 1.

        A regressor's predicted number is the true one, and its density there larger than any other.
        All other answers, and the members, are the run's.
        """
        membership = self.members.design.values
        if predicts_numbers(self.members):
            truth = self.members.label.values.astype(np.float64)
            exact = np.where(membership, truth, self.members.prediction.values)
            made = self.members.assign(prediction=(self.members.prediction.dims, exact))
            signals = None if self.signals is None else np.where(membership, TOP + CERTAIN / 4, self.signals)
            return self._panel(made, signals, membership, None)
        certain = np.where(self._own_class, CERTAIN, 0.0)
        logits = np.where(membership[..., None], certain, self.members.logits.values)
        made = self.members.assign(logits=(self.members.logits.dims, logits))
        return self._panel(made, confidence(made) if self._reads_probabilities else None, membership, None)

    def changed_by_lookup(self) -> float:
        """Share of the answers about members, as the adversary reads them, that a lookup changes."""
        membership = self.members.design.values
        name = "lira" if self._reads_probabilities else RAW_ERROR if predicts_numbers(self.members) else RAW_LABELS
        before, after = (
            made.attacks[name].signals[membership] for made in (self.panel(membership, 0.0, [name]), self.looked_up())
        )
        return float((np.abs(after - before) > UNCHANGED).mean())

    def _clipped(self, shift: Array) -> Array | None:
        """The signals with a shift, within the range of `score_matrices.confidence`; log densities have none."""
        if self.signals is None or predicts_numbers(self.members):
            return None if self.signals is None else self.signals + shift
        return np.clip(self.signals + shift, -MOST_CONFIDENT, MOST_CONFIDENT)

    def _more_exact(self, effect: float, membership: Mask) -> xr.Dataset:
        """Predicted numbers of members moved towards the truth, by the effect in deviations of the record's errors."""
        answers = self.members
        error = answers.prediction.values - answers.label.values.astype(np.float64)
        moved = np.sign(error) * np.minimum(np.abs(error), effect * error.std(0, ddof=1) * membership)
        return answers.assign(prediction=(answers.prediction.dims, answers.prediction.values - moved))

    @property
    def _own_class(self) -> Mask:
        """Which class is the true one, (record, class)."""
        return np.arange(self.members.sizes["class"]) == self.members.label.values[:, None]

    def _with_logits(self, shift: Array) -> xr.Dataset:
        logits = self.members.logits
        if not shift.any():
            return self.members
        return self.members.assign(logits=(logits.dims, logits.values + shift[..., None] * self._own_class))

    def _panel(
        self, queried: xr.Dataset, signals: Array | None, membership: Mask, names: Collection[str] | None
    ) -> Panel:
        names = names_on(queried, self.threats) if names is None else names
        attacks = attacks_on(names, queried, signals, self.population, self.rmia)
        made = Panel.of_units if self.persons else Panel.of_records
        return made(attacks, membership, self.members.unit.values, self.scheme)
