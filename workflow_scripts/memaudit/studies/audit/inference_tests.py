"""Attribute inference and linking judged: on members, on non-members, the difference, and without the model.

A good model tells the value of a hidden column of everybody, in the context or not. Only the excess of members (entries
of contexts with the record) over non-members (the same records, contexts without them) is due to membership. Both are
compared with an adversary who never queries the model (Jayaraman and Evans 2022).

The excess is tested by redraws of the membership matrix: scores are computed anew in each, and the largest studentised
excess of all questions, adversaries and metrics counts (max-T), so that many columns do not raise the error rate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Mask
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import SIGNIFICANT, Estimate
from memaudit.statistics.randomisation_tests import p_value, require_draws, studentised_gaps
from memaudit.statistics.scorable_redraws import redraw
from memaudit.studies.audit.inferred_answers import Answers

METRICS = ("accuracy", "probability")  # the most probable answer is right; mean posterior of the right answer
METHOD = "two-way bootstrap, {} replicates, members and non-members paired"
Key = tuple[str, str]  # question, adversary


@dataclass(frozen=True)
class Drawn:
    """How membership was drawn: (model, record) matrix of all targets, its scheme, and the units (record,)."""

    membership: Mask
    scheme: Scheme
    units: NDArray[np.int64]

    def redrawn(self, rng: np.random.Generator) -> "Drawn":
        """Another matrix that is as likely."""
        return Drawn(redraw(self.scheme, self.membership, self.units, rng), self.scheme, self.units)


class Null(NamedTuple):
    """Excess of each key and metric, observed, and p-value with max-T over all; redraws: (draw, metric) of each key."""

    p_values: dict[Key, Array]
    redraws: dict[Key, Array]


def judged(
    questions: Mapping[str, Answers],
    drawn: Drawn,
    rng: np.random.Generator,
    replicates: int,
    permutations: int,
    adversaries: Sequence[str] = (),
) -> dict[Key, list[Estimate]]:
    """Estimates of each question and adversary; adversaries: only these, () for all.

    Metrics: "members" and "non-members" (accuracies), "accuracy excess" and "probability excess" (members less
    non-members, tested), "without model" (accuracy of the prior alone), and "gain" (accuracy on non-members less that).
    Raises AuditError for fewer than 19 permutations.
    """
    null = excess_test(questions, drawn, rng, permutations, adversaries)
    models, records = drawn.membership.shape
    weights = bootstrap.two_way_weights(models, records, replicates, rng, drawn.units)
    return {key: list(_estimates(questions[key[0]], key, drawn, null, weights)) for key in null.p_values}


def excess_test(
    questions: Mapping[str, Answers],
    drawn: Drawn,
    rng: np.random.Generator,
    permutations: int,
    adversaries: Sequence[str] = (),
) -> Null:
    """The randomisation test of the excess; arguments as of `judged`."""
    require_draws(permutations, len(drawn.membership))
    keys = [(name, one) for name, answers in questions.items() for one in adversaries or answers.adversaries]
    every = [_excess(questions, drawn, keys)]
    every += [_excess(questions, drawn.redrawn(rng), keys) for _ in range(permutations)]
    gaps, studentised = np.swapaxes(every, 0, 1)  # (draw, key, metric) each
    largest = studentised[1:].max((1, 2))
    return Null(
        {key: np.array([p_value(one, largest) for one in studentised[0, i]]) for i, key in enumerate(keys)},
        {key: gaps[1:, i] for i, key in enumerate(keys)},
    )


def _excess(questions: Mapping[str, Answers], drawn: Drawn, keys: Sequence[Key]) -> Array:
    """Excess of each key and metric, and the same studentised: (2, key, metric)."""
    found = []
    for name, adversary in keys:
        member = drawn.membership[:, questions[name].records]
        values = _values(questions[name], adversary, member)
        gaps = np.array([one[member].mean() - one[~member].mean() for one in values])
        influence = values - values.mean((1, 2), keepdims=True)
        found.append([gaps, studentised_gaps(gaps, influence, member, drawn.scheme)])
    return np.swapaxes(found, 0, 1)


def _values(answers: Answers, adversary: str, member: Mask) -> Array:
    """Both metrics of each entry: (metric, model, record)."""
    posterior = answers.posterior(adversary, member)
    right = np.take_along_axis(posterior, answers.truth[None, :, None], -1)[..., 0]
    return np.stack([(posterior.argmax(-1) == answers.truth).astype(np.float64), right])


def _estimates(answers: Answers, key: Key, drawn: Drawn, null: Null, weights: bootstrap.Weights) -> Iterator[Estimate]:
    member = drawn.membership[:, answers.records]
    units = drawn.units[answers.records]
    weights = bootstrap.Weights(weights.models, weights.records[:, answers.records], bootstrap.effective_units(units))
    prior = answers.prior(key[1])
    blind = np.broadcast_to((prior.argmax(-1) == answers.truth).astype(np.float64), member.shape)
    accuracy, probability = _values(answers, key[1], member)
    sides = {"members": (accuracy, member), "non-members": (accuracy, ~member), "without model": (blind, ~member)}
    means = {name: _means(*side, weights) for name, side in sides.items()}
    chance = float(np.bincount(answers.truth).max() / len(answers.truth))
    for name, (value, samples) in means.items():
        yield _estimate(name, value, samples, weights, sides[name][1], chance, least=0.0)
    inside, outside, alone = means.values()
    yield _estimate("gain", outside[0] - alone[0], outside[1] - alone[1], weights, ~member, 0.0)
    scores = [(inside, outside), (_means(probability, member, weights), _means(probability, ~member, weights))]
    for number, (one, other) in enumerate(scores):
        found = _estimate(
            f"{METRICS[number]} excess", one[0] - other[0], one[1] - other[1], weights, np.ones_like(member), 0.0
        )
        yield _tested(found, null.redraws[key][:, number], float(null.p_values[key][number]))


def _means(values: Array, chosen: Mask, weights: bootstrap.Weights) -> tuple[float, Array]:
    """Mean of the chosen entries, and in each replicate."""
    total, count = (bootstrap.weighted_sum(cells, weights) for cells in (values * chosen, chosen.astype(np.float64)))
    return float(values[chosen].mean()), total / count


def _estimate(
    name: str, value: float, samples: Array, weights: bootstrap.Weights, chosen: Mask, null: float, least: float = -1.0
) -> Estimate:
    low, high = bootstrap.two_way_interval(samples, value, weights, least, 1.0)
    return Estimate(name, value, low, high, np.count_nonzero(chosen), METHOD.format(len(samples)), null)


def _tested(found: Estimate, redraws: Array, p: float) -> Estimate:
    low, high = bootstrap.interval(redraws)
    null = float(redraws.mean())
    detected = bool(p <= SIGNIFICANT and found.low > null)
    return Estimate(
        found.metric, found.estimate, found.low, found.high, found.n, found.method + ", max-T over all questions",
        null, low, high, p, detected,
    )  # fmt: skip
