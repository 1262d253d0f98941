"""TabPATE: a private context for a tabular foundation model without public records (TabPATE, Section 4, Algorithm 1).

The mechanism has two optional parts. Noisy moments of the private records are released and queries are drawn from them;
otherwise queries are drawn from public bounds, at no cost. PATE teachers, each with its own shard of the private
records as context, vote on the labels of the queries, and the noisy votes are released. `labels: group` is an addition
to the paper: queries are drawn from the moments of each class and labelled by that class, so that no teacher is queried
and the whole budget is spent on moments. `labels: learned`, another addition, spends the rest of the budget on a noisy
classifier, which labels them (learned_labels.py).

No other function of the records leaves this module than these noisy sums.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.privacy import synthetic_queries
from memaudit.privacy.accounting import (
    Budget,
    Filter,
    Mechanism,
    clearly_exceeds,
    delta_of,
    gaussian_rho,
    gaussian_sigma,
    rho_within,
)
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.gnmax import ABSTAINED, Confident, label
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.learned_labels import SENSITIVITY, trained
from memaudit.privacy.noisy_means import STEPS as MEAN_STEPS
from memaudit.privacy.noisy_means import label_means
from memaudit.privacy.noisy_moments import Moments, moments_sensitivity, release_moments
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Context, Numbers, Predict, Private, Targets
from memaudit.privacy.teacher_votes import predictions, votes
from memaudit.privacy.unit_lattice import STEPS

# Uniform numbers in [-1, 1] have a root mean square of 0.58: larger norms are rare.
CLIP = {"public": 0.8, "narrowed": 0.5}
DEVIATIONS = 2.5  # to either side of a noisy mean: the bounds of the second release


@dataclass(frozen=True)
class Settings:
    """Settings of the mechanism; none of them may be chosen by looking at the private records.

    teachers: K disjoint shards; queries: M, the maximum number of labels; prior: distribution of the queries; alpha:
    share of the budget for moments; by_class: moments of each class (or part of the range of a number target);
    narrowed: half of that share is spent first on moments of all records, which give narrower bounds; threshold,
    sigma1, sigma2: of Confident-GNMax, in votes; sigma2 None: the noise with which all M labels fit; labels: by votes,
    the group that a query was drawn from, or learned by a noisy classifier; equal_classes: queries of all classes in
    equal numbers, not by their noisy shares, and learned labels for equal shares, at no cost; accounting:
    "as_published", alpha and 1 - alpha of epsilon with delta/2 each, or "joint", one Gaussian budget for all releases.
    """

    queries: int
    teachers: int = 0
    prior: Literal["uniform", "gaussian", "moments", "given"] = "uniform"
    alpha: float = 0.0
    by_class: bool = False
    narrowed: bool = False
    threshold: float | None = None
    sigma1: float | None = None
    sigma2: float | None = None
    labels: Literal["votes", "group", "learned"] = "votes"
    equal_classes: bool = False
    accounting: Literal["as_published", "joint"] = "joint"


@dataclass(frozen=True)
class Plan:
    """The noise of every release, fixed before a record is read.

    moments: sigma of each release of moments, in records; votes: noise of the labels (regression: sigma2 alone, on the
    sum of predictions); rho: limit of the cost of all labels together; mechanisms: all of it for `delta_of`, None where
    the number of labels depends on the votes, or where parts of the budget are accounted apart; learned: sigma, in
    records, of a single step of the classifier that labels, or None.
    """

    moments: tuple[float, ...]
    votes: Confident | None
    rho: float
    mechanisms: tuple[Mechanism, ...] | None = None
    learned: float | None = None

    def described(self, public: Public) -> dict[str, Any]:
        """The plan as entries of a statement."""
        votes = {"votes": asdict(self.votes)} if self.votes else {}
        moments = {"sigma": list(self.moments), "rho": self._moments_rho(public)}
        classifier = {"classifier": {"sigma": self.learned}} if self.learned else {}
        return {"moments": moments, **votes, **classifier, "labels_rho": self.rho}

    def guarantee(self, public: Public) -> Guarantee:
        """What the noise guarantees to one unit."""
        return Guarantee(self._moments_rho(public) + self.rho, self.mechanisms)

    def most_queries(self, public: Public) -> float:
        """The largest number of queries that `rho` pays for, and one more, as costs are rounded: of no record.

        A query costs its check, whatever the outcome; without a check, its label. Checks that cost nothing end nothing.
        """
        if public.task == "regression":
            cost = gaussian_rho(self.votes.sigma2)
        else:
            cost = self.votes.label_cost if self.votes.threshold is None else self.votes.check_cost
        return self.rho / cost + 1 if cost else math.inf

    def _moments_rho(self, public: Public) -> float:
        return sum(gaussian_rho(sigma, _sensitivity(public) ** 2) for sigma in self.moments)


@dataclass(frozen=True)
class Released:
    """A private context x (m, d), y (m,) in the form of `Public.encode`, and the entries of its statement.

    queried: number of queries that the teachers processed; answered: of those, the labelled ones.
    """

    x: Numbers
    y: Targets
    queried: int
    answered: int
    statement: dict[str, Any]


@cache  # the exact account takes a second, and every shadow context needs the same plan
def planned(settings: Settings, budget: Budget, public: Public) -> Plan:
    """The noise of every release. Raises AuditError where the budget does not cover the settings."""
    if settings.labels == "learned":
        _check_learned(settings, public)
    drawn_by_class = public.task == "classification" and settings.by_class and settings.labels != "votes"
    if settings.equal_classes and not drawn_by_class:
        raise AuditError("equal_classes: needs classes, `by_class: true` and labels by `group` or `learned`")
    if settings.accounting == "as_published":
        return _separately(settings, budget, public)
    sensitivity = _sensitivity(public)
    # Noise slightly above the closed form of Gaussians, until the exact account of discrete ones is within budget.
    for slack in 1 + np.geomspace(1e-6, 0.1, 12):
        mu = 1 / (gaussian_sigma(budget.epsilon, budget.delta) * slack)
        sigmas = _moments(settings, lambda share, mu=mu: sensitivity / (mu * math.sqrt(share)))
        spent = [(1, sensitivity * STEPS, sigma * STEPS) for sigma in sigmas]
        if settings.labels == "group":
            plan, costs = Plan(sigmas, None, 0.0), spent
        elif settings.labels == "learned":
            sigma = SENSITIVITY / (mu * math.sqrt(1 - settings.alpha))
            plan = Plan(sigmas, None, gaussian_rho(sigma, SENSITIVITY**2), learned=sigma)
            costs = [*spent, (1, SENSITIVITY * STEPS, sigma * STEPS)]
        elif settings.threshold is None:
            moved = 2 if public.task == "classification" else 1
            sigma2 = settings.sigma2 or math.sqrt(moved * settings.queries / (1 - settings.alpha)) / mu
            votes = Confident(None, None, sigma2)
            plan = Plan(sigmas, votes, settings.queries * gaussian_rho(sigma2, moved))
            costs = [*spent, _noisy_labels(settings, sigma2, public)]
        else:
            left = rho_within(budget) - sum(gaussian_rho(sigma, sensitivity**2) for sigma in sigmas)
            return Plan(sigmas, Confident(settings.threshold, settings.sigma1, settings.sigma2), max(0.0, left))
        if clearly_exceeds(budget, costs):
            break
        if delta_of(budget.epsilon, costs) <= budget.delta:
            return replace(plan, mechanisms=tuple(costs))
    raise AuditError(
        f"{settings.queries} labels with sigma2 {settings.sigma2} exceed {budget}; use fewer queries, or more noise"
    )


def planned_by_rho(settings: Settings, rho: float, public: Public) -> Plan:
    """The noise of every release, by zCDP alone: alpha of rho is for moments, the rest for votes."""
    sensitivity = _sensitivity(public)
    sigmas = _moments(settings, lambda share: sensitivity / math.sqrt(2 * share * rho))
    return _labelled(settings, sigmas, (1 - settings.alpha) * rho, public)


@dataclass(frozen=True)
class TabPATE:
    """The mechanism on one private table.

    predict: a model that answers each query independently; rng: of the queries, which need not be secret.
    """

    private: Private
    predict: Predict
    rng: np.random.Generator
    noise: Noise = discrete_gaussian

    def release(self, settings: Settings, budget: Budget) -> Released:
        """A private context: (epsilon, delta)-DP, add or remove one unit.

        Raises AuditError for an invalid budget, and where the budget does not cover the settings.
        """
        budget.checked(self.private.public.records)
        return self.release_by_plan(planned(settings, budget, self.private.public), settings)

    def release_by_plan(self, plan: Plan, settings: Settings) -> Released:
        """A private context by a given plan, which defines its cost; the budget is not checked."""
        public, statement = self.private.public, plan.described(self.private.public)
        queries, groups = self._queries(settings, plan)
        if settings.labels in ("group", "learned"):
            return Released(queries, groups, 0, len(queries), statement)
        # The filter stops before the queries beyond: no teacher needs to answer them.
        queries = queries[: int(min(len(queries), plan.most_queries(public)))]
        contexts, allowance = self.private.teacher_contexts(settings.teachers), Filter(plan.rho)
        if public.task == "regression":
            labels = mean_labels(contexts, queries, public, self.predict, plan.votes.sigma2, allowance, self.noise)
            return Released(queries[: len(labels)], labels, len(labels), len(labels), statement)
        counts = votes(contexts, queries, len(public.target.values), self.predict)
        labelled = label(counts, plan.votes, allowance, self.noise)
        kept = labelled.labels != ABSTAINED
        return Released(queries[kept], labelled.labels[kept], labelled.queried, labelled.answered, statement)

    def _queries(self, settings: Settings, plan: Plan) -> tuple[Numbers, Targets | None]:
        """Queries (M, d), and the targets drawn with them (M,), or None."""
        public, count = self.private.public, settings.queries
        if settings.prior == "given":
            return self.rng.permutation(self.private.unlabelled)[:count], None
        if settings.prior != "moments":
            return getattr(synthetic_queries, settings.prior)(public, count, self.rng), None
        if public.task == "classification":
            return self._from_moments(self.private, settings, plan)
        # The target is one more column, with moments of its own.
        records = np.column_stack([self.private.x, self.private.y]).astype(np.float32)
        drawn, _ = self._from_moments(replace(self.private, x=records, public=public.with_target()), settings, plan)
        return drawn[:, :-1], drawn[:, -1].astype(np.float64)

    def _from_moments(self, private: Private, settings: Settings, plan: Plan) -> tuple[Numbers, NDArray[np.int64]]:
        """Queries (M, d) from noisy moments of the records, and the group of each (M,), or its learned label."""
        clip = math.sqrt(max(1, np.count_nonzero(private.public.numeric)))
        *first, last = plan.moments
        if first:
            options = {"clip": CLIP["public"] * clip, "by_class": False, "noise": self.noise}
            private = replace(private, public=narrowed(private.public, release_moments(private, *first, **options)))
        options = {"clip": CLIP["narrowed" if first else "public"] * clip, "by_class": settings.by_class}
        moments = release_moments(private, last, noise=self.noise, **options)
        drawn = settings.queries, self.rng, settings.equal_classes
        queries, group = synthetic_queries.from_moments(moments, private.public, *drawn)
        if plan.learned:
            classifier = trained(private, moments, (last, plan.learned), self.rng, self.noise)
            group = classifier.labels(queries, settings.equal_classes)
        return queries, group


def mean_labels(
    contexts: Sequence[Context],
    queries: Numbers,
    public: Public,
    predict: Predict,
    sigma: float,
    allowance: Filter,
    noise: Noise = discrete_gaussian,
) -> Array:
    """Noisy means of the teachers' predictions, in the target's units: (labelled,), as many as the allowance covers."""
    lower, upper = public.target.bounds
    means = label_means(predictions(contexts, queries, public, predict), sigma, allowance, noise)
    return lower + (upper - lower) * means


def _check_learned(settings: Settings, public: Public) -> None:
    if public.task != "classification" or settings.accounting != "joint":
        raise AuditError("labels: `learned` is for classes and the joint accounting; use `group` or `votes`")
    if settings.prior != "moments" or not settings.by_class or not 0 < settings.alpha < 1:
        raise AuditError("labels: `learned` needs the prior `moments`, `by_class: true` and an alpha between 0 and 1")


def _separately(settings: Settings, budget: Budget, public: Public) -> Plan:
    """Plan by TabPATE, Theorem B.1: alpha and 1 - alpha of epsilon, half of delta each, with or without moments."""
    sensitivity, alpha, delta = _sensitivity(public), settings.alpha, budget.delta / 2
    sigmas = ()
    if alpha:
        whole = gaussian_sigma(alpha * budget.epsilon, delta, sensitivity)
        sigmas = _moments(settings, lambda share: whole / math.sqrt(share / alpha))
    if settings.labels == "group":
        return Plan(sigmas, None, 0.0)
    return _labelled(settings, sigmas, rho_within(Budget((1 - alpha) * budget.epsilon, delta)), public)


def _labelled(settings: Settings, sigmas: tuple[float, ...], rho: float, public: Public) -> Plan:
    """A plan whose labels cost at most rho; without a sigma2, each of M labels costs an equal part."""
    moved = 2 if public.task == "classification" else 1
    # rho = moved / (2 sigma^2) a label.
    sigma2 = settings.sigma2 or math.sqrt(moved * settings.queries / (2 * rho))
    return Plan(sigmas, Confident(settings.threshold, settings.sigma1, sigma2), rho)


def _sensitivity(public: Public) -> float:
    """L2 sensitivity of the moments that queries are drawn from; a number target is one more column."""
    return moments_sensitivity(public.with_target() if public.task == "regression" else public)


def _moments(settings: Settings, sigma: Callable[[float], float]) -> tuple[float, ...]:
    """Sigma of each release of moments by its share of the budget."""
    if not settings.alpha:
        return ()
    return (sigma(settings.alpha / 2),) * 2 if settings.narrowed else (sigma(settings.alpha),)


def _noisy_labels(settings: Settings, sigma2: float, public: Public) -> tuple[int, float, float]:
    """Mechanism of all labels for `delta_of`, in lattice steps: two counts per label, or one sum of predictions."""
    if public.task == "classification":
        return 2 * settings.queries, 1, sigma2
    return settings.queries, MEAN_STEPS, sigma2 * MEAN_STEPS


def narrowed(public: Public, moments: Moments) -> Public:
    """The public facts with narrower bounds, `DEVIATIONS` around noisy means, which are public once released.

    A narrow range needs less noise for the same privacy; records outside are clipped to it.
    """
    mean, deviation = moments.mean()[0], np.maximum(moments.deviation(), 1 / 50)
    ends = np.zeros((2, len(public.columns)))
    ends[:, public.numeric] = np.clip([mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation], -1, 1)
    lower, upper = public.unscaled(ends).astype(np.float64)
    columns = [
        replace(column, values=(low, high)) if column.type == "numeric" and low < high else column
        for column, low, high in zip(public.columns, lower, upper, strict=True)
    ]
    target = columns[-1] if public.task == "regression" else public.target
    return replace(public, columns=tuple(columns), target=target)
