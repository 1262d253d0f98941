"""TabPATE: a private context for a tabular foundation model, without public records (TabPATE, Section 4, Algorithm 1).

Two parts, each of which may be left out. Moments of the private records are released with noise, and queries drawn from
them; or queries come from public bounds, at no cost. Teachers, each shown its own shard of the private records, vote on
the queries' labels, and noisy votes are released. What `labels: group` adds to the paper: moments of each class, whose
queries come with the class that they were drawn from, so that no teacher is asked and all noise is spent once.

Nothing of a record but these noisy sums leaves this module.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memaudit.errors import AuditError
from memaudit.privacy import synthetic_queries
from memaudit.privacy.accounting import Budget, Filter, delta_of, gaussian_rho, gaussian_sigma, rho_within
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.gnmax import ABSTAINED, Confident, label
from memaudit.privacy.noisy_means import STEPS as MEAN_STEPS
from memaudit.privacy.noisy_means import label_means
from memaudit.privacy.noisy_moments import STEPS, Moments, moments_sensitivity, release_moments
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import shards_of

Numbers = NDArray[np.float32]
Targets = NDArray[np.int64] | NDArray[np.float64]
# Contexts and queries in, logits (context, query, class) or predictions (context, query) out.
Ask = Callable[[Sequence[tuple[Numbers, Targets]], Numbers], NDArray[np.float32]]

# Numbers in [-1, 1] that are spread evenly have a root mean square of .58: larger norms are rare.
CLIP = {"public": 0.8, "narrowed": 0.5}
DEVIATIONS = 2.5  # to either side of a noisy mean: the bounds of the second release


@dataclass(frozen=True)
class Settings:
    """How a budget is used; none of it may be chosen by looking at the private records.

    teachers: K disjoint shards; queries: M, at most so many are labelled; prior: where they come from; alpha: share of
    the budget for moments; by_class: moments of each class (or part of a number target's range); narrowed: half of that
    share buys moments of all records first, and with them narrower bounds; threshold, sigma1, sigma2: of Confident-
    GNMax, in votes; sigma2 None: the noise with which all M labels fit; labels: by votes, or the group that a query was
    drawn from; accounting: "as_published", alpha and 1 - alpha of epsilon with delta/2 each, or "joint", one Gaussian
    budget for all releases.
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
    labels: Literal["votes", "group"] = "votes"
    accounting: Literal["as_published", "joint"] = "joint"


@dataclass(frozen=True)
class Plan:
    """What is released with which noise, before a record is read.

    moments: sigma of each release of moments, in records; votes: noise of the labels (regression: sigma2 alone, on the
    sum of predictions); rho: what all labels together may cost.
    """

    moments: tuple[float, ...]
    votes: Confident | None
    rho: float

    def described(self, public: Public) -> dict[str, Any]:
        """Its numbers, for a statement."""
        costs = [gaussian_rho(sigma, _sensitivity(public) ** 2) for sigma in self.moments]
        votes = {"votes": asdict(self.votes)} if self.votes else {}
        return {"moments": {"sigma": list(self.moments), "rho": sum(costs)}, **votes, "labels_rho": self.rho}


@dataclass(frozen=True)
class Released:
    """A private context x (m, d), y (m,) as of `Public.encode`; queries that were asked, and answered; the plan."""

    x: Numbers
    y: Targets
    asked: int
    answered: int
    statement: dict[str, Any]


@cache  # the exact account takes a second, and shadow sets ask for the same plan again and again
def planned(settings: Settings, budget: Budget, public: Public) -> Plan:
    """The noise of every release. Raises AuditError where the budget does not pay for what the settings want."""
    if settings.accounting == "as_published":
        return _separately(settings, budget, public)
    sensitivity = _sensitivity(public)
    # Noise a little above the closed form of Gaussians, until the exact account of discrete ones agrees.
    for slack in 1 + np.geomspace(1e-6, 0.1, 12):
        mu = 1 / (gaussian_sigma(budget.epsilon, budget.delta) * slack)
        sigmas = _moments(settings, lambda share, mu=mu: sensitivity / (mu * math.sqrt(share)))
        spent = [(1, sensitivity * STEPS, sigma * STEPS) for sigma in sigmas]
        if settings.labels == "group":
            found, costs = Plan(sigmas, None, 0.0), spent
        elif settings.threshold is None:
            moved = 2 if public.task == "classification" else 1
            sigma2 = settings.sigma2 or math.sqrt(moved * settings.queries / (1 - settings.alpha)) / mu
            votes = Confident(None, None, sigma2)
            found = Plan(sigmas, votes, settings.queries * gaussian_rho(sigma2, moved))
            costs = [*spent, _noisy_labels(settings, sigma2, public)]
        else:
            left = rho_within(budget) - sum(gaussian_rho(sigma, sensitivity**2) for sigma in sigmas)
            return Plan(sigmas, Confident(settings.threshold, settings.sigma1, settings.sigma2), max(0.0, left))
        if delta_of(budget.epsilon, costs) <= budget.delta:
            return found
    raise AuditError(f"{settings.queries} labels with sigma2 {settings.sigma2} exceed {budget}; ask fewer queries")


def planned_by_rho(settings: Settings, rho: float, public: Public) -> Plan:
    """The noise of every release, by zCDP alone: alpha of rho is for moments, and what is left for votes."""
    sensitivity = _sensitivity(public)
    sigmas = _moments(settings, lambda share: sensitivity / math.sqrt(2 * share * rho))
    return _labelled(settings, sigmas, (1 - settings.alpha) * rho, public)


def release(
    x: Numbers,
    y: Targets,
    units: Sequence[str],
    key: bytes,
    public: Public,
    settings: Settings,
    budget: Budget,
    ask: Ask,
    rng: np.random.Generator,
    noise: Noise = discrete_gaussian,
    given: Numbers | None = None,
) -> Released:
    """A private context from records x (n, d), y (n,) of units (n,): (epsilon, delta)-DP, add or remove one unit.

    key: secret, of the shards; ask: a model that answers each query as if alone; rng: of the queries, for which no
    randomness need be secret; given: public records (m, d), the queries of PromptPATE. Raises AuditError where the
    budget is none, or does not pay for the settings.
    """
    budget.checked(public.records)
    plan = planned(settings, budget, public)
    return carried_out(plan, x, y, units, key, public, settings, ask, rng, noise, given)


def carried_out(
    plan: Plan,
    x: Numbers,
    y: Targets,
    units: Sequence[str],
    key: bytes,
    public: Public,
    settings: Settings,
    ask: Ask,
    rng: np.random.Generator,
    noise: Noise = discrete_gaussian,
    given: Numbers | None = None,
) -> Released:
    """`release` by a plan that is there: it costs what the plan says, and no budget is asked."""
    drawn, targets = (given, None) if given is not None else _queries(x, y, units, public, settings, plan, rng, noise)
    if settings.labels == "group":
        return Released(drawn, targets, 0, len(drawn), plan.described(public))
    shards = shards_of(units, key, settings.teachers)
    contexts = [(x[shards == shard], y[shards == shard]) for shard in range(settings.teachers)]
    allowance = Filter(plan.rho)
    if public.task == "regression":
        lower, upper = public.target.bounds
        means = label_means(predictions(contexts, drawn, public, ask), plan.votes.sigma2, allowance, noise)
        labels = lower + (upper - lower) * means
        return Released(drawn[: len(labels)], labels, len(labels), len(labels), plan.described(public))
    found = label(votes(contexts, drawn, len(public.target.values), ask), plan.votes, allowance, noise)
    kept = found.labels != ABSTAINED
    return Released(drawn[kept], found.labels[kept], found.asked, found.answered, plan.described(public))


def votes(contexts: Sequence[tuple[Numbers, Targets]], drawn: Numbers, classes: int, ask: Ask) -> NDArray[np.int64]:
    """Votes (query, class) of the teachers. One of one class votes for it, one without records for the first class."""
    counts = np.zeros((len(drawn), classes), dtype=np.int64)
    able = [context for context in contexts if len(np.unique(context[1])) > 1]
    for context in contexts:
        if len(np.unique(context[1])) < 2:
            counts[:, context[1][0] if len(context[1]) else 0] += 1
    for logits in ask(able, drawn) if able else ():
        counts[np.arange(len(drawn)), logits.argmax(1)] += 1
    return counts


def predictions(
    contexts: Sequence[tuple[Numbers, Targets]], drawn: Numbers, public: Public, ask: Ask
) -> NDArray[np.float64]:
    """Predictions (query, teacher), the target's public range as [0, 1] (Section 5.4).

    A teacher with fewer than two records says the middle.
    """
    lower, upper = public.target.bounds
    said = np.full((len(drawn), len(contexts)), 0.5)
    able = [place for place, (_, targets) in enumerate(contexts) if len(targets) > 1]
    if able:
        said[:, able] = ((ask([contexts[place] for place in able], drawn) - lower) / (upper - lower)).T
    return said


def _separately(settings: Settings, budget: Budget, public: Public) -> Plan:
    """Theorem B.1: alpha and 1 - alpha of epsilon, half of delta each, whether moments are released or not."""
    sensitivity, alpha, delta = _sensitivity(public), settings.alpha, budget.delta / 2
    sigmas = ()
    if alpha:
        whole = gaussian_sigma(alpha * budget.epsilon, delta, sensitivity)
        sigmas = _moments(settings, lambda share: whole / math.sqrt(share / alpha))
    if settings.labels == "group":
        return Plan(sigmas, None, 0.0)
    return _labelled(settings, sigmas, rho_within(Budget((1 - alpha) * budget.epsilon, delta)), public)


def _labelled(settings: Settings, sigmas: tuple[float, ...], rho: float, public: Public) -> Plan:
    """A plan whose labels may cost rho; without a sigma2, each of M labels costs its part."""
    moved = 2 if public.task == "classification" else 1
    # rho = moved / (2 sigma^2) a label.
    sigma2 = settings.sigma2 or math.sqrt(moved * settings.queries / (2 * rho))
    return Plan(sigmas, Confident(settings.threshold, settings.sigma1, sigma2), rho)


def _sensitivity(public: Public) -> float:
    """Of the moments that queries are drawn from; a number target is one more column there."""
    return moments_sensitivity(public.with_target() if public.task == "regression" else public)


def _moments(settings: Settings, sigma: Callable[[float], float]) -> tuple[float, ...]:
    """Sigma of each release of moments, by its share of the whole budget."""
    if not settings.alpha:
        return ()
    return (sigma(settings.alpha / 2),) * 2 if settings.narrowed else (sigma(settings.alpha),)


def _noisy_labels(settings: Settings, sigma2: float, public: Public) -> tuple[int, float, float]:
    """All labels, in steps of their noise's lattice: two counts a label, or one sum of predictions."""
    if public.task == "classification":
        return 2 * settings.queries, 1, sigma2
    return settings.queries, MEAN_STEPS, sigma2 * MEAN_STEPS


def _queries(
    x: Numbers,
    y: Targets,
    units: Sequence[str],
    public: Public,
    settings: Settings,
    plan: Plan,
    rng: np.random.Generator,
    noise: Noise,
) -> tuple[Numbers, Targets | None]:
    """Queries (M, d), and the targets that they were drawn with (M,), if they were."""
    if settings.prior != "moments":
        return getattr(synthetic_queries, settings.prior)(public, settings.queries, rng), None
    number = public.task == "regression"
    if number:  # The target is one more column: moments say where it lies, too.
        x, public = np.column_stack([x, y]).astype(np.float32), public.with_target()
    clip = math.sqrt(max(1, np.count_nonzero(public.numeric)))
    *first, last = plan.moments
    if first:
        wide = release_moments(x, y, units, public, *first, clip=CLIP["public"] * clip, by_class=False, noise=noise)
        public = narrowed(public, wide)
    clip *= CLIP["narrowed" if first else "public"]
    moments = release_moments(x, y, units, public, last, clip=clip, by_class=settings.by_class, noise=noise)
    drawn, group = synthetic_queries.from_moments(moments, public, settings.queries, rng)
    return (drawn[:, :-1], drawn[:, -1].astype(np.float64)) if number else (drawn, group)


def narrowed(public: Public, moments: Moments) -> Public:
    """The public facts with narrower bounds, `DEVIATIONS` around noisy means: these are public now, too.

    A narrow range needs less noise for the same privacy; records beyond it are clipped to it.
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
