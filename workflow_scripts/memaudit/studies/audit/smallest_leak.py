"""The smallest leak that an audit of these contexts and records detects with probability .8.

A graded effect is planted into the run's own answers (`planted_effects.Answers.panel`), and the strongest score is
chosen and judged as for the headline. How often an effect is detected is predicted from a few plantings
(`detection_power`). Simulated: docs/coverage.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.statistics.attack_performance import judge
from memaudit.statistics.detection_power import Verdict
from memaudit.statistics.randomisation_tests import Entries, pooled_metrics
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, composite, composite_of
from memaudit.studies.audit.planted_effects import Answers

METRICS = (AUC, TPR)
PLANTINGS = 4  # redrawn memberships that each effect is planted into
NULLS = 8  # further redraws of each, without an effect
HALF_WIDTHS = 3  # bootstraps of each
CHOICE_ENTRIES = 12_800  # a score is chosen on as many entries
ENTRIES = 409_600  # of more, some of the units are taken
FIRST, LEAST, MOST = 0.25, 0.01, 16.0  # effects that are tried, in standard deviations
TINY = 1e-9
Chosen = Mapping[str, Sequence[str]]


class Smallest(NamedTuple):
    """The least AUC or TPR that is detected with probability .8, and the effect that has it.

    value: mean of the attack's estimates; effect: shift of the members' confidence, in standard deviations of a record
    over contexts. NaN where no effect is detected.
    """

    value: float
    effect: float


@dataclass
class Plantings:
    """Planted effects, judged. answers: of the run; fpr, replicates and draws: of the audit's verdict."""

    answers: Answers
    fpr: float
    replicates: int
    draws: int
    rng: np.random.Generator
    units: int = field(init=False)
    _memberships: list[Mask] = field(init=False)
    _planted: dict[float, list[tuple[Panel, Chosen]]] = field(init=False, default_factory=dict)
    _means: dict[float, Array] = field(init=False, default_factory=dict)
    _verdicts: dict[float, list[tuple[float, Verdict]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.answers = self.answers.of_units(ENTRIES, self.rng)
        self.units = len(np.unique(self.answers.members.unit.values))
        self._memberships = [self.answers.redrawn(self.rng) for _ in range(PLANTINGS)]

    def smallest(self) -> dict[str, Smallest]:
        """The smallest detected AUC and TPR, each with its own effect."""
        return {metric: self._smallest(place) for place, metric in enumerate(METRICS)}

    def _smallest(self, place: int) -> Smallest:
        """First from the spread at a guessed effect, then from that at the tried effect next to the one so found."""
        near = FIRST
        for _ in range(2):
            chance, verdict = self._verdicts_at(near)[place]
            value = chance + verdict.smallest_excess()
            effect = self._effect_of(value, chance, place)
            if np.isnan(effect):
                return Smallest(np.nan, np.nan)
            near = min(self._means, key=lambda tried: abs(np.log(tried / effect)))
        return Smallest(value, effect)

    def _effect_of(self, value: float, chance: float, place: int) -> float:
        """The effect whose plantings have this mean metric; NaN where the largest has less.

        Between effects that were tried, log excess over chance is linear in the log effect.
        """
        high = FIRST
        while self._mean(high)[place] < value:
            high *= 2
            if high > MOST:
                return np.nan
        while self._mean(high / 2)[place] >= value and high > LEAST:
            high /= 2
        ends = np.maximum([self._mean(effect)[place] - chance for effect in (high / 2, high)], TINY)
        slope = np.log(ends[1] / ends[0]) / np.log(2)
        share = np.log((value - chance) / ends[0]) / slope if slope > 0 else np.log(2)
        return float(high / 2 * np.exp(np.clip(share, 0, np.log(2))))

    def _mean(self, effect: float) -> Array:
        """AUC and TPR (2,) of an effect, means over plantings."""
        if effect not in self._means:
            self._means[effect] = np.mean([self._metrics(*one)[0] for one in self._panels(effect)], axis=0)
        return self._means[effect]

    def _panels(self, effect: float) -> list[tuple[Panel, Chosen]]:
        """The attacks on each planting of an effect, and the scores that are chosen for them."""
        if effect not in self._planted:
            self._planted[effect] = [self._chosen(effect, member) for member in self._memberships]
        return self._planted[effect]

    def _chosen(self, effect: float, member: Mask) -> tuple[Panel, Chosen]:
        part = self.answers.of_units(CHOICE_ENTRIES, self.rng)
        columns = np.isin(self.answers.members.record.values, part.members.record.values)
        chosen = choose(part.panel(member[:, columns], effect), self.fpr)
        return self.answers.panel(member, effect, {*chosen[AUC], *chosen[TPR]}), chosen

    def _metrics(self, panel: Panel, chosen: Chosen, redrawn: Mask | None = None) -> tuple[Array, Array]:
        """AUC and TPR by the scores that are chosen for each, and the same studentised: (2,) each.

        redrawn: (model, target) memberships instead of the planted ones.
        """
        member = panel.membership if redrawn is None else redrawn
        found = []
        for place, metric in enumerate(METRICS):
            scores = composite_of(panel, chosen[metric], member)
            values = pooled_metrics(Entries.of(scores, member), member, [self.fpr], panel.scheme)
            found.append([one[place] for one in values])
        values, studentised = np.transpose(found)
        return values, studentised

    def _verdicts_at(self, effect: float) -> list[tuple[float, Verdict]]:
        """By metric: its mean without an effect, and what decides on a detection near an effect."""
        if effect not in self._verdicts:
            self._verdicts[effect] = self._measured(effect)
        return self._verdicts[effect]

    def _measured(self, effect: float) -> list[tuple[float, Verdict]]:
        nulls, planted, lows = [], [], []
        for panel, chosen in self._panels(effect):
            planted.append(self._metrics(panel, chosen))
            for number in range(NULLS):
                nulls.append(self._metrics(panel, chosen, panel.redrawn(self.rng)))
                if number < HALF_WIDTHS:
                    lows.append(self._half_widths(panel, chosen))
        chance = np.array([0.5, self.fpr])
        means, spreads = (make([values for values, _ in nulls], axis=0) for make in (np.mean, _spread))
        # Where the choice between scores differs from data set to data set the estimates scatter more than redraws. Few
        # plantings tell that deviation: the larger of both is too large on average, so their variances are averaged.
        scatter = np.maximum(spreads, _spread([values for values, _ in planted], axis=0))
        spreads = np.sqrt((spreads**2 + scatter**2) / 2)
        errors = _median_errors(planted, chance, spreads)
        studentised, half_widths = np.array([one for _, one in nulls]).T, np.array(lows).T
        measured = zip(spreads, errors, studentised, half_widths, strict=True)
        verdicts = [Verdict(*one, self.draws, offset) for one, offset in zip(measured, means - chance, strict=True)]
        return list(zip(means, verdicts, strict=True))

    def _half_widths(self, panel: Panel, chosen: Chosen) -> list[float]:
        """From the estimates of AUC and TPR down to the lower ends of their intervals."""
        options = {"fprs": [self.fpr], "rng": self.rng, "replicates": self.replicates, "groups": panel.groups}
        found = []
        for place, metric in enumerate(METRICS):
            estimate = judge(composite(panel, chosen[metric]), panel.membership, **options)[place]
            found.append(estimate.estimate - estimate.low)
        return found


def _spread(values: Sequence[Array], axis: int) -> Array:
    return np.std(values, axis=axis, ddof=1)


def _median_errors(judged: Sequence[tuple[Array, Array]], chance: Array, otherwise: Array) -> Array:
    """Excess over chance divided by the studentised excess, (metric,), the median over plantings."""
    values, studentised = np.swapaxes(judged, 0, 1)
    errors = np.divide(values - chance, studentised, out=np.full_like(values, np.nan), where=studentised != 0)
    known = ~np.isnan(errors).all(0)
    return np.where(known, np.nanmedian(np.where(known, errors, 0), axis=0), otherwise)
